"""Rings again for lanes whose doorbell led to nothing, and for lanes whose holder died."""

from dataclasses import dataclass

from core.logs import get_logger
from jobs.broker import Doorbell
from jobs.broker_probe import BrokerProbe
from jobs.registry import WorkerRegistry
from jobs.slot import Slot
from jobs.upkeep import Upkeep

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
    """Buries dead siblings and looks at the partitions' due times.

    Any number of processes may sweep: the script moves a lane's due time before it reports it.
    """

    def __init__(self, parts: SweepParts) -> None:
        self._parts = parts

    def sweep(self) -> None:
        """Look at everything once.

        Raises:
            StorageUnavailable: Redis gave no answer; what was not reached comes up again.
        """
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
