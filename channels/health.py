"""Whether a channel hears what is written to it."""

from dataclasses import dataclass
from typing import Literal

HealthState = Literal["starting", "connected", "unhealthy", "stopped"]


@dataclass(frozen=True, slots=True)
class ChannelHealth:
    """How it is with receiving messages.

    Attributes:
        state: ``unhealthy`` while the channel is deaf and tries again, ``stopped`` when it does not.
        since_ms: epoch milliseconds at which that began.
        reason: for people; None while all is well.
    """

    state: HealthState
    since_ms: int
    reason: str | None = None
