"""Whether a channel hears what is written to it."""

from dataclasses import dataclass
from typing import Literal

from core import clock
from core.logs import get_logger

HealthState = Literal["starting", "connected", "unhealthy", "stopped"]

_log = get_logger(__name__)


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


class Hearing:
    """Keeps how it is with a channel, and tells the log when that changes.

    Attributes:
        health: now.
    """

    def __init__(self, channel: str) -> None:
        self._channel = channel
        self.health = ChannelHealth("starting", clock.wall_ms())

    def become(self, state: HealthState, reason: str | None = None) -> None:
        """Note how it is, each time that it is found out."""
        before, now_ms = self.health, clock.wall_ms()
        since_ms = before.since_ms if before.state == state else now_ms
        self.health = ChannelHealth(state, since_ms, reason)
        if (before.state, before.reason) == (state, reason):
            return
        if state != "connected":
            _log.warning("channel_deaf", channel=self._channel, state=state, reason=reason)
        elif before.state == "unhealthy":
            _log.info("channel_hears_again", channel=self._channel, deaf_ms=now_ms - before.since_ms)
