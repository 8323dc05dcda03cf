"""How far running tasks are, told to who looks or listens. Best effort: nothing of it holds up a task."""

import threading

from core.errors import DependencyError
from core.logs import get_logger
from jobs.lanes import Lanes, ProgressNote

PERIOD_S = 1.0
JOIN_S = 5.0

_log = get_logger(__name__)


class ProgressTeller:
    """One thread that tells the newest of each task, all tasks in one round trip, once a second at most."""

    def __init__(self, lanes: Lanes, *, period_s: float = PERIOD_S) -> None:
        """Start the thread.

        Args:
            period_s: pause after each round trip, seconds.
        """
        self._lanes = lanes
        self._period_s = period_s
        self._notes: dict[str, ProgressNote] = {}
        self._lock = threading.Lock()
        self._noted = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._tell_on, name="progress-teller", daemon=True)
        self._thread.start()

    def note(self, note: ProgressNote) -> None:
        """Have this told soon, instead of what is not told yet of the same task. Never waits or fails."""
        with self._lock:
            self._notes[note.grant.task.id] = note
        self._noted.set()

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Tell nothing more."""
        self._closing.set()
        self._noted.set()
        self._thread.join(JOIN_S)

    def _tell_on(self) -> None:
        while not self._closing.is_set():
            self._noted.wait()
            self._tell(self._take_notes())
            self._closing.wait(self._period_s)

    def _take_notes(self) -> list[ProgressNote]:
        self._noted.clear()
        with self._lock:
            notes, self._notes = self._notes, {}
        return list(notes.values())

    def _tell(self, notes: list[ProgressNote]) -> None:
        if not notes:
            return
        try:
            self._lanes.tell_progress(notes)
        except DependencyError as error:
            _log.debug("progress_untold", reason=str(error))
