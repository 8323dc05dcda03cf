"""Rings again for lanes whose doorbell led to nothing, and for lanes whose holder died."""

import random
import threading

from core.logs import get_logger
from events.errors import StorageUnavailable
from jobs.broker import Doorbell
from jobs.lanes import Lanes

_log = get_logger(__name__)


class Sweeper:
    """One thread that looks at the partitions' due times.

    Any number of processes may sweep: the script moves a lane's due time before it reports it.
    """

    def __init__(self, lanes: Lanes, doorbell: Doorbell, *, period_ms: int) -> None:
        """Start the thread."""
        self._lanes = lanes
        self._doorbell = doorbell
        self._period_s = period_ms / 1000
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sweep, name="sweeper", daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop sweeping."""
        self._stop.set()
        self._thread.join()

    def _sweep(self) -> None:
        # jitter keeps the sweepers of a fleet apart
        while not self._stop.wait(self._period_s * random.uniform(0.8, 1.0)):  # noqa: S311
            try:
                for workspace, stamp_ms in self._lanes.sweep():
                    _log.info("lane_rung_again", workspace=workspace)
                    self._doorbell.ring(workspace, stamp_ms)
            except StorageUnavailable as error:
                _log.warning("sweep_failed", reason=str(error))
