"""What a stopping service leaves for its next start."""

from collections.abc import Iterable

from core.ids import WorkspaceId
from events.errors import StorageUnavailable
from jobs.client import count_waiting

_REDIS_LIMIT_S = 0.5


class Backlog:
    """Number of tasks that wait, counted at the last moment at which Redis can tell."""

    def __init__(self, state_url: str, workspaces: Iterable[WorkspaceId]) -> None:
        self._state_url = state_url
        self._workspaces = tuple(workspaces)
        self._waiting: int | None = None

    def count(self) -> None:
        """Count now; what can't be counted is not told."""
        try:
            self._waiting = count_waiting(self._state_url, self._workspaces, timeout_s=_REDIS_LIMIT_S)
        except StorageUnavailable:
            self._waiting = None

    def farewell(self) -> str:
        """The last line for a person."""
        if self._waiting is None:
            return "stopped\n"
        tasks = "1 task waits" if self._waiting == 1 else f"{self._waiting or 'no'} tasks wait"
        return f"stopped; {tasks} for the next start\n"
