"""Stands where the agent bridge stands: a task is one line in the diary, and the time it is told to hold."""

from threading import Event
from typing import cast

from bench.diary import Diary
from bench.stopwatch import now_ns
from core.acp import ResolveParams, ResolveResult, TaskMeta
from core.memory_calls import MemoryCall, RememberParams, RememberResult

_DONE = RememberResult(summary="", files_touched=[], touched_scopes=[])


class NoopBridge:
    """What a worker needs of a bridge, without agents. The content of a task is its number."""

    def __init__(self, diary: Diary, *, hold_s: float) -> None:
        """Bind the diary.

        Args:
            hold_s: how long each task runs, seconds; its line is written at its start.
        """
        self._diary = diary
        self._hold_s = hold_s
        self._closed = Event()

    def run(self, workspace: str, call: MemoryCall, _meta: TaskMeta, **_progress: object) -> RememberResult:
        """Run a task, which is always a remember."""
        params = cast("RememberParams", call.params)
        self._diary.note(workspace.rpartition("/")[2], int(params.content), now_ns())
        if self._hold_s:
            self._closed.wait(self._hold_s)
        return _DONE

    def resolve(self, _workspace: str, _params: ResolveParams) -> ResolveResult:
        """Say that no task ever committed."""
        return ResolveResult(result=None)

    def available(self, _workspace: str) -> bool:
        """Say that memory can be used."""
        return True

    def extend(self, _workspace: str, _ms: int) -> None:
        """Do nothing: there is no child whose life could be extended."""

    def cancel(self, _workspace: str, _task_id: str) -> None:
        """End all holds."""
        self._closed.set()

    def kill(self, _workspace: str) -> None:
        """End all holds."""
        self._closed.set()

    def close(self) -> None:
        """End all holds."""
        self._closed.set()
