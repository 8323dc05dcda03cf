"""From a preview to the task that commits it."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from core.ids import WorkspaceId
from jobs.calls import APPLY_OF
from jobs.client import JobsClient, Submitted
from jobs.errors import NoPreview
from jobs.tasks import Submission, Task

MAX_APPLIES: Final = 16  # of one preview; each but the last has failed


def apply_preview(
    jobs: JobsClient,
    workspace: WorkspaceId,
    preview: Task,
    *,
    asked: Submission,
    check: Callable[[], None],
) -> Submitted:
    """Have a preview committed: the task of that, which is the same one again until it has failed.

    Args:
        asked: who asks, by which request and idempotency key; the preview decides the rest.
        check: called before a task is made; what it raises refuses the preview.

    Raises:
        NoPreview: the task has not completed, or was no dry run, or 16 tries have failed.
        Errors as for ``JobsClient.accept``.
    """
    key = _open_key(jobs, workspace, preview)

    def check_preview() -> None:
        if preview.result is None or "preview" not in preview.result:
            raise NoPreview("The task has no preview that could be applied")
        if key is None:
            raise NoPreview("The preview could not be applied, however often it was tried")
        check()

    submission = replace(
        asked,
        input={APPLY_OF: preview.id},
        scope=preview.scope,
        client_id=preview.client_id,  # whoever asks: who sees the preview sees what became of it
        idempotency_keys=(*asked.idempotency_keys, *([key] if key else [])),
    )
    return jobs.accept(workspace, submission, check=check_preview)


def _open_key(jobs: JobsClient, workspace: WorkspaceId, preview: Task) -> str | None:
    """The key of the first try that has not failed so far; None when all have."""
    for number in range(MAX_APPLIES):
        key = hashlib.sha256(f"apply:{preview.id}:{number}".encode()).hexdigest()
        made = jobs.made_by(workspace, preview.kind, key)
        if made is None or made.status not in ("failed", "cancelled"):
            return key
    return None
