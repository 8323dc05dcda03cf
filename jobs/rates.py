"""How often a caller may ask for work."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.keys import rate
from jobs.scripts import lane_scripts

if TYPE_CHECKING:
    import redis

WINDOW_MS = 60_000


@dataclass(frozen=True, slots=True)
class Quota:
    """Where a caller stands.

    Attributes:
        limit: requests in a minute, and at once after a minute's rest.
        left: requests that would pass now.
        full_ms: milliseconds until all of them would.
        wait_ms: milliseconds until the next one passes; 0 when this one has.
    """

    limit: int
    left: int
    full_ms: int
    wait_ms: int

    @property
    def is_exceeded(self) -> bool:
        """Whether the request is one too many."""
        return self.wait_ms > 0


class Rates:
    """Counts requests by caller, over all processes."""

    def __init__(self, client: "redis.Redis") -> None:
        self._scripts = lane_scripts(client)

    def take(self, caller: str, *, limit: int) -> Quota:
        """Count a request of a caller; one that is refused is not counted.

        Args:
            caller: name of a token, never anything that a caller can choose.
            limit: requests in a minute, > 0.

        Raises:
            StorageUnavailable, StorageFull: nothing is known; the request may have been counted.
        """
        reply = self._scripts.call("take", [rate(caller)], [limit, WINDOW_MS])
        left, full_ms, wait_ms = map(int, reply[1:])
        return Quota(limit, left, full_ms, wait_ms)
