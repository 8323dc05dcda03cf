"""Plays the worker: takes tasks through their lane without an agent."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.acp import Progress
from core.ids import WorkspaceId
from events.connect import connect
from jobs.lanes import Grant, ProgressNote
from jobs.tasks import End
from tests.support.lane import DONE, LaneUnderTest


class LaneDriver:
    """Claims and finishes the tasks of one lane, in their order."""

    def __init__(self, redis_url: str, workspace: WorkspaceId) -> None:
        self._lane = LaneUnderTest(connect(redis_url), workspace=workspace)
        self._grant: Grant | None = None

    def start(self, task_id: str) -> None:
        """Let a task run, ending those before it."""
        while self._claimed().task.id != task_id:
            self._end(DONE)

    def input_of(self, task_id: str) -> Mapping[str, Any]:
        """What the worker gets for a task, which runs from then on."""
        self.start(task_id)
        return self._claimed().input

    def tell_progress(self, turn: int) -> None:
        """Let the running task say how far it is."""
        grant = self._claimed()
        progress = Progress(task_id=grant.task.id, turn=turn, max_turns=6)
        self._lane.lanes.tell_progress([ProgressNote(self._lane.workspace, grant, progress)])

    def complete(
        self,
        task_id: str,
        result: Mapping[str, Any] | None = None,
        *,
        memory_changed: Mapping[str, Any] | None = None,
    ) -> None:
        """Let a task run to its end."""
        self.start(task_id)
        self._end(replace(DONE, result=result or DONE.result, memory_changed=memory_changed))

    def fail(self, task_id: str, code: str, message: str) -> None:
        """Let a task run and fail."""
        self.start(task_id)
        self._end(End("failed", code=code, message=message))

    def _claimed(self) -> Grant:
        if self._grant is None:
            self._grant = self._lane.claim()
        assert self._grant is not None, "the lane is empty"
        return self._grant

    def _end(self, end: End) -> None:
        assert self._lane.finish(self._claimed(), end).answer == "ok"
        self._grant = None
