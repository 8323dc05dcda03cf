"""How channels stand, for who looks on; nothing here writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from core.ids import WorkspaceId
from core.keys import ChannelKeys
from events.connect import connect, storage_errors

if TYPE_CHECKING:
    import redis

ChannelState = Literal["starting", "connected", "unhealthy", "stopped", "unserved"]


@dataclass(frozen=True, slots=True)
class KnownChannel:
    """A channel that is configured here."""

    name: str
    type: str
    workspace: WorkspaceId


@dataclass(frozen=True, slots=True)
class ChannelStanding:
    """How a channel stands.

    Attributes:
        state: what who serves it said last: ``starting``, ``connected``, ``unhealthy`` while it hears nothing
            and tries again, ``stopped`` after a failure; ``unserved`` when nobody serves it.
        since_ms: epoch milliseconds at which that began; None when it is not known.
        reason: for people; None while all is well.
        process: ``<host>:<pid>`` of who serves it, or did last; None when nobody ever did.
        waiting: messages that came and are not done with.
    """

    channel: KnownChannel
    state: ChannelState
    since_ms: int | None
    reason: str | None
    process: str | None
    waiting: int


def open_channel_board(redis_url: str, channels: Sequence[KnownChannel]) -> "ChannelBoard":
    """Make a client; connects when first used.

    Raises:
        ConfigError: the URL is none.
    """
    return ChannelBoard(connect(redis_url), channels)


class ChannelBoard:
    """Looks at the channels that are configured here. Safe for use by many threads."""

    def __init__(self, client: "redis.Redis", channels: Sequence[KnownChannel]) -> None:
        self._redis = client
        self._channels = tuple(channels)

    def standings(self) -> list[ChannelStanding]:
        """How each stands now, in the order of the configuration.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        if not self._channels:
            return []
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            pipe.time()
            for channel in self._channels:
                keys = ChannelKeys(channel.workspace, channel.name)
                pipe.hgetall(keys.lease)
                pipe.xlen(keys.inbox)
            (seconds, microseconds), *found = pipe.execute()
        now_ms = seconds * 1000 + microseconds // 1000
        rows = zip(self._channels, found[::2], found[1::2], strict=True)
        return [_standing(channel, lease, waiting, now_ms=now_ms) for channel, lease, waiting in rows]


def _standing(
    channel: KnownChannel, lease: Mapping[str, Any], waiting: int, *, now_ms: int
) -> ChannelStanding:
    is_served = int(lease.get("until", 0)) > now_ms
    reason = lease.get("reason") or None
    is_told = "state" in lease and (is_served or (lease["state"] == "stopped" and reason is not None))
    return ChannelStanding(
        channel,
        state=lease["state"] if is_told else "unserved",
        since_ms=int(lease["since"]) if is_told else None,
        reason=reason if is_told else None,
        process=lease.get("process"),
        waiting=waiting,
    )
