"""Rings again for lanes whose doorbell led to nothing, and for lanes whose holder died."""

import random
import threading
from dataclasses import dataclass

from core.errors import DependencyError
from core.logs import get_logger
from jobs.broker import Doorbell
from jobs.broker_probe import BrokerProbe
from jobs.registry import WorkerRegistry
from jobs.slot import Slot
from jobs.upkeep import Upkeep

JOIN_S = 5.0

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class SweepParts:
    """What sweeping takes."""

    upkeep: Upkeep
    doorbell: Doorbell
    probe: BrokerProbe
    registry: WorkerRegistry
    slot: Slot


class Sweeper:
    """One thread that buries dead siblings and looks at the partitions' due times.

    Any number of processes may sweep: the script moves a lane's due time before it reports it.
    """

    def __init__(self, parts: SweepParts, *, period_ms: int) -> None:
        """Start the thread, which sweeps at once."""
        self._parts = parts
        self._period_s = period_ms / 1000
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sweep_on, name="sweeper", daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop sweeping."""
        self._stop.set()
        self._thread.join(JOIN_S)

    def _sweep_on(self) -> None:
        while True:
            try:
                self._sweep()
            except DependencyError as error:
                _log.warning("sweep_failed", reason=str(error))
            # jitter keeps the sweepers of a fleet apart
            if self._stop.wait(self._period_s * random.uniform(0.8, 1.0)):  # noqa: S311 - no secret depends on it
                return

    def _sweep(self) -> None:
        parts = self._parts
        parts.slot.find_dead(self._bury)
        sweep = parts.upkeep.sweep(oldest_doorbell_ms=parts.probe.oldest_stamp_ms())
        for workspace, stamp_ms in sweep.rings:
            _log.info("lane_rung_again", workspace=workspace)
            parts.doorbell.ring(workspace, stamp_ms)
        parts.registry.note_load(waiting=sweep.waiting, oldest_wait_ms=sweep.oldest_wait_ms)

    def _bury(self, owner: str) -> None:
        ended = self._parts.upkeep.expire_owner(owner)
        _log.warning("worker_found_dead", owner=owner, leases_ended=ended)
