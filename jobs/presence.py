"""Makes a worker process known: that it lives, and what it knows of each workspace's memory."""

import threading
from collections.abc import Callable, Mapping

from core.errors import DependencyError
from core.ids import WorkspaceId
from core.logs import get_logger
from events.errors import StorageUnavailable
from jobs.registry import WorkerRegistry

PERIOD_S = 5.0

_log = get_logger(__name__)


class Presence:
    """One thread that announces the worker every five seconds.

    Availability is learned from the tasks that run; while a workspace is known to be unavailable its
    child is asked again before each announcement, so that a cured one is seen.
    """

    def __init__(
        self,
        registry: WorkerRegistry,
        worker_id: str,
        *,
        facts: Mapping[str, str],
        ask: Callable[[WorkspaceId], bool],
        period_s: float = PERIOD_S,
    ) -> None:
        """Start the thread, which announces the worker at once."""
        self._period_s = period_s
        self._registry = registry
        self._worker_id = worker_id
        self._facts = facts
        self._ask = ask
        self._known: dict[WorkspaceId, bool] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._announce, name="presence", daemon=True)
        self._thread.start()

    def note(self, workspace: WorkspaceId, *, available: bool) -> None:
        """Remember what a task or its child said of the workspace's memory."""
        self._known[workspace] = available

    def close(self) -> None:
        """Stop, and take the worker out of the registry if Redis can be reached."""
        self._stop.set()
        self._thread.join()
        try:
            self._registry.retire(self._worker_id)
        except StorageUnavailable:
            _log.info("worker_not_retired", worker=self._worker_id)

    def _announce(self) -> None:
        while True:
            try:
                self._ask_again()
                self._registry.announce(self._worker_id, self._facts, dict(self._known))
            except StorageUnavailable as error:
                _log.warning("worker_not_announced", reason=str(error))
            if self._stop.wait(self._period_s):
                return

    def _ask_again(self) -> None:
        for workspace in [name for name, available in self._known.items() if not available]:
            try:
                self._known[workspace] = self._ask(workspace)
            except DependencyError:
                _log.info("availability_unknown", workspace=workspace)
