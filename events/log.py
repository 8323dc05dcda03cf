"""Reading a workspace's event log; writing is the append fragment's, in the script that changes the state."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from core.ids import WorkspaceId, new_uuid
from core.keys import LaneKeys
from events.connect import storage_errors
from events.envelope import Envelope, from_entry

if TYPE_CHECKING:
    import redis

READ_BATCH = 256


@dataclass(frozen=True, slots=True)
class LogState:
    """Where a log stands.

    Attributes:
        epoch: uuid that changes when event numbers start anew.
        first_id: oldest event that can be replayed; ``last_id`` + 1 when there is none.
        last_id: newest event, 0 before the first.
    """

    epoch: str
    first_id: int
    last_id: int


class EventLog:
    """The event logs of all workspaces, as their readers see them."""

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client

    def state(self, workspace: WorkspaceId) -> LogState:
        """Tell where the log stands; gives a log that has none its epoch.

        Raises:
            StorageUnavailable: Redis gave no answer.
            StorageFull: the log has no epoch yet, and Redis can't store one.
        """
        keys = LaneKeys(workspace)
        with storage_errors(), self._redis.pipeline(transaction=True) as pipe:
            pipe.hmget(keys.lane, ["eventEpoch", "eventSeq"])
            pipe.xrange(keys.events, count=1)
            (epoch, seq), oldest = pipe.execute()
            if epoch is None:
                self._redis.hsetnx(keys.lane, "eventEpoch", new_uuid())
                return self.state(workspace)
        last_id = int(seq or 0)
        first_id = int(oldest[0][0].partition("-")[0]) if oldest else last_id + 1
        return LogState(epoch, first_id, last_id)

    def read(self, workspace: WorkspaceId, *, after: int, count: int = READ_BATCH) -> list[Envelope]:
        """Read up to ``count`` events whose id is greater than ``after``, oldest first.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        stream = LaneKeys(workspace).events
        with storage_errors():
            entries = cast("list[Any]", self._redis.xrange(stream, min=f"({after}-0", count=count))
        return [from_entry(entry_id, fields) for entry_id, fields in entries]
