"""A thread that does something again and again, as long as storage comes and goes."""

import random
import threading
from collections.abc import Callable

from core.errors import DependencyError
from core.logs import get_logger

JOIN_S = 5.0

_log = get_logger(__name__)


class Periodic:
    """Calls ``work`` at once and then every ``period_s`` seconds or a little earlier.

    A call that fails because something outside failed is logged, and the next one comes in its time.
    """

    def __init__(self, name: str, work: Callable[[], object], *, period_s: float) -> None:
        """Start the thread."""
        self._name = name
        self._work = work
        self._period_s = period_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._go_on, name=name, daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop after the call that is being made."""
        self._stop.set()
        self._thread.join(JOIN_S)

    def _go_on(self) -> None:
        while True:
            try:
                self._work()
            except DependencyError as error:
                _log.warning("periodic_work_failed", work=self._name, reason=str(error))
            # jitter keeps the processes of a fleet apart
            if self._stop.wait(self._period_s * random.uniform(0.8, 1.0)):  # noqa: S311 - no secret depends on it
                return
