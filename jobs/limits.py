"""Numbers that lanes are run with."""

from dataclasses import dataclass

from core.settings import Settings

MAX_PENDING = 16
MAX_UPKEEP = 8  # of these, tasks of other kinds than remember
MAX_RECORDS = 1000
DOORBELL_MS = 5_000  # a doorbell that led to nothing for so long is rung again
IDEMPOTENCY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class LaneLimits:
    """What can be set.

    Attributes:
        max_attempts: runs that a task gets when its workers die.
        max_waiting_lanes: lanes that wait for a worker before idle ones are refused.
        max_wait_ms: how long the oldest queued head may wait before idle lanes are refused.
    """

    lease_ms: int
    task_ttl_ms: int
    input_keep_ms: int
    max_attempts: int
    max_waiting_lanes: int = 5_000
    max_wait_ms: int = 600_000


def limits_of(settings: Settings) -> LaneLimits:
    """The part of the settings that lanes run with."""
    return LaneLimits(
        lease_ms=settings.lease_ms,
        task_ttl_ms=settings.task_ttl_s * 1000,
        input_keep_ms=settings.input_keep_s * 1000,
        max_attempts=settings.max_attempts,
        max_waiting_lanes=settings.max_waiting_lanes,
        max_wait_ms=settings.max_wait_s * 1000,
    )
