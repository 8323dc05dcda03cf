"""What keeps lanes moving and what operators do to them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.ids import WorkspaceId
from core.keys import CONTROL_CHANNEL, PARTITIONS, LaneKeys, PartitionKeys
from events.connect import storage_errors
from jobs.failures import CANCELLED
from jobs.limits import DOORBELL_MS, MAX_RECORDS, LaneLimits
from jobs.scripts import lane_scripts, log_args, stamp_in, state_keys

if TYPE_CHECKING:
    import redis


SCAN_KEYS = 1000  # looked at per round trip


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a look at all lanes found.

    Attributes:
        rings: lanes whose doorbell must be rung (again), with the stamp to ring with.
        waiting: lanes with queued work and nobody at it.
        oldest_wait_ms: for how long nobody has been at the longest waiting one.
    """

    rings: tuple[tuple[WorkspaceId, int], ...]
    waiting: int
    oldest_wait_ms: int


class Upkeep:
    """The scripts that look after lanes. Every call is safe to repeat after a lost reply."""

    def __init__(self, client: "redis.Redis", limits: LaneLimits) -> None:
        self._redis = client
        self._scripts = lane_scripts(client)
        self._limits = limits

    def sweep(self, *, oldest_doorbell_ms: int | None = None) -> Sweep:
        """Look at all lanes whose time has come.

        Args:
            oldest_doorbell_ms: stamp of the oldest doorbell that waits in the broker, 0 when none does,
                None when that is unknown. Doorbells at least as young are left to arrive.

        Raises:
            StorageUnavailable: no answer; lanes already found come up again when their time has come.
        """
        hint = "" if oldest_doorbell_ms is None else oldest_doorbell_ms
        parts = [PartitionKeys(number) for number in range(PARTITIONS)]
        calls = [("sweep", [part.due, part.wait], [part.prefix, DOORBELL_MS, hint]) for part in parts]
        replies = self._scripts.call_many(calls)
        rings = tuple(
            (WorkspaceId(reply[i]), int(reply[i + 1])) for reply in replies for i in range(2, len(reply), 2)
        )
        return Sweep(rings, sum(int(reply[0]) for reply in replies), max(int(reply[1]) for reply in replies))

    def expire_owner(self, owner: str) -> int:
        """End all leases of a worker that is proven dead; their lanes are up for the next sweep.

        Args:
            owner: what the worker's claim ids begin with.

        Returns:
            How many leases were ended.

        Raises:
            StorageUnavailable: no answer; repeat, or let them run out.
        """
        parts = [PartitionKeys(number) for number in range(PARTITIONS)]
        replies = self._scripts.call_many(
            [("expire_owner", [part.due], [part.prefix, owner]) for part in parts]
        )
        return sum(int(reply[0]) for reply in replies)

    def hold(self, workspace: WorkspaceId) -> None:
        """Let the lane start no further task until ``unhold``; what runs goes on.

        Raises:
            StorageUnavailable: no answer; repeat.
        """
        self._set_hold(workspace, held=True)

    def unhold(self, workspace: WorkspaceId) -> int | None:
        """Let the lane go on; the stamp to ring its doorbell with if it has work.

        Raises:
            StorageUnavailable: no answer; repeat.
        """
        return self._set_hold(workspace, held=False)

    def drop_workspace(self, workspace: WorkspaceId) -> bool:
        """Cancel all that is queued and delete everything of the workspace; its memory stays.

        Returns:
            False while a task still runs, or has to be resolved because it had run: call again.

        Raises:
            StorageUnavailable: no answer; repeat.
        """
        keys = LaneKeys(workspace)
        limits = [self._limits.task_ttl_ms, self._limits.input_keep_ms, MAX_RECORDS]
        reply = self._scripts.call(
            "drop_workspace",
            [*state_keys(keys), keys.availability],
            [*log_args(keys), CANCELLED.code, CANCELLED.message, *limits, CONTROL_CHANNEL],
        )
        if reply[0] != "dropped":
            return False
        with storage_errors():
            # found by name: a key outlives the record of its task
            for name in self._redis.scan_iter(match=keys.idempotency("*"), count=SCAN_KEYS):
                self._redis.unlink(name)
        return True

    def _set_hold(self, workspace: WorkspaceId, *, held: bool) -> int | None:
        keys = LaneKeys(workspace)
        args = [*log_args(keys), "1" if held else "0", DOORBELL_MS]
        return stamp_in(self._scripts.call("hold", state_keys(keys), args)[1])
