"""From a preview to the task that commits it."""

import hashlib
from collections.abc import Callable
from typing import Final

from core.errors import StateError
from core.ids import TaskId, WorkspaceId
from jobs.calls import APPLY_OF
from jobs.client import JobsClient
from jobs.errors import NoPreview
from jobs.tasks import Submission, Task

MAX_APPLIES: Final = 16  # of one preview; each but the last has failed


def apply_preview(
    jobs: JobsClient,
    workspace: WorkspaceId,
    preview: Task,
    *,
    check: Callable[[], None],
    request_id: str | None = None,
) -> Task:
    """Have a preview committed: the task of that, which is the same one again until it has failed.

    Args:
        check: called before a task is made; what it raises refuses the preview.

    Raises:
        NoPreview: the task has not completed, or was no dry run, or 16 tries have failed.
        Errors as for ``JobsClient.submit``.
    """
    if preview.result is None or "preview" not in preview.result:
        raise NoPreview("The task has no preview that could be applied")
    for number in range(MAX_APPLIES):
        key = _key(preview.id, number)
        try:
            if jobs.made_by(workspace, preview.kind, key) is None:
                check()
        except StateError:
            if jobs.made_by(workspace, preview.kind, key) is None:
                raise  # else somebody else has just had it applied, which made it stale
        submission = Submission(
            kind=preview.kind,
            input={APPLY_OF: preview.id},
            scope=preview.scope,
            client_id=preview.client_id,  # whoever asks: who sees the preview sees what became of it
            request_id=request_id,
            idempotency_key=key,
        )
        task = jobs.submit(workspace, submission)
        if task.status not in ("failed", "cancelled"):
            return task
    raise NoPreview("The preview could not be applied, however often it was tried")


def _key(preview: TaskId, number: int) -> str:
    return hashlib.sha256(f"apply:{preview}:{number}".encode()).hexdigest()
