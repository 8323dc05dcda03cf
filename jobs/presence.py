"""Makes a worker process known: that it lives, and what it knows of each workspace's memory."""

import threading
from collections.abc import Callable, Mapping

from core.errors import DependencyError, MemlaneError
from core.ids import WorkspaceId
from core.logs import get_logger
from jobs.registry import WorkerRegistry

PERIOD_S = 5.0
JOIN_S = 5.0

_log = get_logger(__name__)


class Presence:
    """Announces the worker every five seconds, with what is known of the workspaces it serves.

    Availability is learned from the tasks that run; while a workspace is known to be unavailable its
    child is asked again and again, by a thread of its own, since a child may take its time.
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
        """Start both threads; the worker is announced at once."""
        self._period_s = period_s
        self._registry = registry
        self._worker_id = worker_id
        self._facts = facts
        self._ask = ask
        self._lock = threading.Lock()
        self._known: dict[WorkspaceId, bool] = {}
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=body, name=name, daemon=True)
            for name, body in (("presence", self._announce_on), ("availability", self._ask_on))
        ]
        for thread in self._threads:
            thread.start()

    def note(self, workspace: WorkspaceId, *, available: bool) -> None:
        """Remember what a task or its child said of the workspace's memory."""
        with self._lock:
            self._known[workspace] = available

    def is_alive(self) -> bool:
        """Whether the threads run."""
        return all(thread.is_alive() for thread in self._threads)

    def close(self) -> None:
        """Stop, and take the worker out of the registry if Redis can be reached."""
        self._stop.set()
        for thread in self._threads:
            thread.join(JOIN_S)
        try:
            self._registry.retire(self._worker_id)
        except DependencyError:
            _log.info("worker_not_retired", worker=self._worker_id)

    def _announce_on(self) -> None:
        while True:
            try:
                self._registry.announce(self._worker_id, self._facts, self._snapshot())
            except DependencyError as error:
                _log.warning("worker_not_announced", reason=str(error))
            if self._stop.wait(self._period_s):
                return

    def _ask_on(self) -> None:
        while not self._stop.wait(self._period_s):
            for workspace in [name for name, available in self._snapshot().items() if not available]:
                try:
                    self.note(workspace, available=self._ask(workspace))
                except MemlaneError as error:
                    _log.info("availability_unknown", workspace=workspace, reason=str(error))

    def _snapshot(self) -> dict[WorkspaceId, bool]:
        with self._lock:
            return dict(self._known)
