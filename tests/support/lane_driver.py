"""Plays the worker: takes tasks through their lane without an agent."""

from collections.abc import Mapping
from typing import Any

from core.ids import ClaimId, WorkspaceId, new_uuid
from core.settings import Settings
from events.connect import connect
from jobs.client import limits_of
from jobs.lanes import Grant, Lanes
from jobs.tasks import End

STORE_ID = "store-of-the-tests"
NO_RESULT: Mapping[str, Any] = {"summary": "Nothing.", "filesTouched": [], "touchedScopes": []}


class LaneDriver:
    """Claims and finishes the tasks of one lane, in their order."""

    def __init__(self, settings: Settings, workspace: WorkspaceId) -> None:
        self._lanes = Lanes(connect(settings.state), limits_of(settings))
        self._workspace = workspace
        self._grant: Grant | None = None

    def start(self, task_id: str) -> None:
        """Let a task run, ending those before it."""
        while self._claimed().task.id != task_id:
            self._end(End("completed", result=NO_RESULT))

    def complete(
        self, task_id: str, result: Mapping[str, Any], *, memory_changed: Mapping[str, Any] | None = None
    ) -> None:
        """Let a task run to its end."""
        self.start(task_id)
        self._end(End("completed", result=result, memory_changed=memory_changed))

    def fail(self, task_id: str, code: str, message: str) -> None:
        """Let a task run and fail."""
        self.start(task_id)
        self._end(End("failed", code=code, message=message))

    def _claimed(self) -> Grant:
        if self._grant is None:
            self._grant = self._lanes.claim(self._workspace, ClaimId(new_uuid()), store_id=STORE_ID)
        assert self._grant is not None, "the lane is empty"
        return self._grant

    def _end(self, end: End) -> None:
        finished = self._lanes.finish_if_current(self._workspace, self._claimed(), end)
        assert finished.answer == "ok"
        self._grant = None
