"""Dreams that nobody asked for: memory that has changed enough since its last dream gets one by itself."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from core.clock import wall_ms
from core.ids import WorkspaceId
from core.logs import get_logger
from core.settings import Settings
from core.workspaces import Workspaces
from jobs.client import JobsClient
from jobs.errors import ComeBackLater, IdempotencyConflict, MemoryUnavailable
from jobs.tasks import Submission, TaskOutline

_FIRST = "first"

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class DreamRules:
    """When a dream is due.

    Attributes:
        every_ms: least time since the last one ended.
        min_changes: least number of commits since then.
    """

    every_ms: int
    min_changes: int


def rules_of(settings: Settings) -> DreamRules | None:
    """The part of the settings that says when; None means never."""
    if settings.dream_every is None:
        return None
    every_ms = int(settings.dream_every.total_seconds() * 1000)
    return DreamRules(every_ms, settings.dream_min_changes)


def due_after(newest_first: Iterable[TaskOutline], rules: DreamRules, *, now_ms: int) -> str | None:
    """Tell which dream a new one would follow; None if none is due.

    A dream that waits or runs is the one that is due; one that failed or was cancelled counts as the last
    one, too, so that trouble is not asked for every minute.

    Args:
        newest_first: tasks of one lane.
    """
    changes = 0
    for task in newest_first:
        if task.kind == "dream" and not task.is_preview:
            ended_ms = task.finished_ms
            is_due = ended_ms is not None and ended_ms + rules.every_ms <= now_ms
            return task.id if is_due and changes >= rules.min_changes else None
        changes += task.revision is not None
    return _FIRST if changes >= rules.min_changes else None


class Dreamer:
    """Looks after the workspaces of one process; several processes ask for one dream all the same."""

    def __init__(self, jobs: JobsClient, workspaces: Workspaces, *, rules: DreamRules) -> None:
        self._jobs = jobs
        self._workspaces = workspaces
        self._rules = rules

    def look(self) -> None:
        """Ask for the dreams that are due.

        Raises:
            StorageUnavailable: Redis gave no answer; some may have been asked for.
        """
        for workspace in self._workspaces:
            last = due_after(self._jobs.outlines(workspace.id), self._rules, now_ms=wall_ms())
            if last is not None:
                self._ask(workspace.id, last)

    def _ask(self, workspace: WorkspaceId, last: str) -> None:
        key = hashlib.sha256(f"dream:{workspace}:{last}".encode()).hexdigest()
        try:
            task = self._jobs.submit(workspace, Submission("dream", {}, idempotency_keys=(key,)))
        except (ComeBackLater, MemoryUnavailable, IdempotencyConflict) as refusal:
            _log.info("dream_not_asked_for", workspace=workspace, code=refusal.code)
        else:
            _log.info("dream_asked_for", workspace=workspace, task=task.id)
