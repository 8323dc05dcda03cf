"""A channel's messages, turns and routes in Redis; what they say is the caller's own, as text."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, cast

from core.ids import WorkspaceId
from core.keys import ChannelKeys
from events.connect import connect, storage_errors
from events.errors import ChannelBacklogFull, ChannelLeaseLost
from events.scripts import Scripts, assembled, lua

if TYPE_CHECKING:
    import redis

MAX_WAITING = 10_000
KNOWN_MS = 172_800_000  # how long a message is known again: two days
READ_BATCH = 10  # each may hold pictures of some megabytes

SCRIPTS = (
    *("claim", "renew", "release", "put", "settle"),
    *("begin", "deliver", "end", "add", "sending", "sent", "route"),
)

_NOTHING: Mapping[str, str] = MappingProxyType({})

PartState = Literal["waiting", "sending", "sent"]


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to serve a channel.

    Attributes:
        token: fencing token, greater than any that was given before.
    """

    token: str


@dataclass(frozen=True, slots=True)
class Taken:
    """Another process serves the channel.

    Attributes:
        free_in_ms: when its right ends, unless it is renewed.
    """

    free_in_ms: int


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn that has not ended.

    Attributes:
        state: ``running`` or ``delivering``.
    """

    body: str
    state: str


@dataclass(frozen=True, slots=True)
class StoredPart:
    """A message that has not been sent.

    Attributes:
        state: ``waiting`` or ``sending``.
    """

    key: str
    body: str
    turn_id: str
    state: str


def open_channel_store(redis_url: str, workspace: WorkspaceId, channel: str) -> "ChannelStore":
    """Make a client; connects when first used.

    Raises:
        ConfigError: the URL is none.
    """
    return ChannelStore(connect(redis_url), workspace, channel)


class ChannelStore:
    """What one channel keeps. Safe for use by many threads.

    Every write of who serves it names the fencing token, and is refused once another has been given.
    """

    def __init__(
        self, client: "redis.Redis", workspace: WorkspaceId, channel: str, *, max_waiting: int = MAX_WAITING
    ) -> None:
        self._redis = client
        self._keys = ChannelKeys(workspace, channel)
        self._scripts = Scripts(client, {name: source(name) for name in SCRIPTS})
        self._max_waiting = max_waiting
        self._token = ""

    def claim(self, owner: str, *, life_ms: int, told: Mapping[str, str] = _NOTHING) -> Lease | Taken:
        """Take the right to serve the channel for so long from now; later writes name its token.

        Args:
            told: fields for who looks on, see ``events.chat.board``.

        Raises:
            StorageUnavailable: no answer. Claim again.
        """
        args = [owner, life_ms, *chain.from_iterable(told.items())]
        answer, fact = self._scripts.call("claim", [self._keys.lease], args)
        if answer == "taken":
            return Taken(int(fact))
        self._token = fact
        return Lease(fact)

    def renew(self, *, life_ms: int, told: Mapping[str, str] = _NOTHING) -> None:
        """Keep the right for so long from now, also after it ran out, unless another process was given it.

        Args:
            told: see ``claim``.

        Raises:
            ChannelLeaseLost: one was, and may have left the channel again; what is known here may be old.
            StorageUnavailable: no answer. Renew again.
        """
        self._write("renew", [], [life_ms, *chain.from_iterable(told.items())])

    def release(self, *, told: Mapping[str, str] = _NOTHING) -> None:
        """Let another process serve the channel at once; fine when one does.

        Args:
            told: see ``claim``.

        Raises:
            StorageUnavailable: no answer; the right runs out by itself.
        """
        args = [self._token, *chain.from_iterable(told.items())]
        self._scripts.call("release", [self._keys.lease], args)

    def put(self, body: str, *, keys: Iterable[str]) -> bool:
        """Store a message; anybody may.

        Args:
            keys: by each of which it is known again for two days.

        Returns:
            False for one that is known: nothing was stored.

        Raises:
            ChannelBacklogFull: too many wait; nothing was stored.
            StorageFull: Redis is out of memory; nothing was stored.
            StorageUnavailable: no answer; it may be stored, and a repeat is known then.
        """
        digests = [hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32] for key in keys]
        args = [body, self._max_waiting, KNOWN_MS, *digests]
        (answer, *_) = self._scripts.call("put", [self._keys.inbox, self._keys.seen], args)
        if answer == "full":
            raise ChannelBacklogFull(self._max_waiting)
        return bool(answer == "stored")

    def read(self, *, after: str, wait_ms: int | None) -> list[tuple[str, str]]:
        """Messages that came after one and are not done with: receipts and bodies, the oldest first.

        Args:
            after: a receipt; ``0`` begins with the oldest.
            wait_ms: how long to wait for one when there is none, > 0; None for not at all.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        streams: Any = {self._keys.inbox: after}
        with storage_errors():
            reply = cast("list[Any]", self._redis.xread(streams, count=READ_BATCH, block=wait_ms))
        return [(receipt, fields["body"]) for _, entries in reply or [] for receipt, fields in entries]

    def settle(self, receipts: Iterable[str]) -> None:
        """Be done with messages that became no turn.

        Raises:
            ChannelLeaseLost: another process serves the channel.
            StorageUnavailable: no answer; repeat.
        """
        self._write("settle", [self._keys.inbox], list(receipts))

    def begin(self, turn_id: str, body: str) -> None:
        """Note a turn before the agent is asked; a repeat changes nothing.

        Raises:
            ChannelLeaseLost, StorageUnavailable: as ``settle``.
            StorageFull: Redis is out of memory; it was not noted.
        """
        self._write("begin", [self._keys.turns, self._keys.turn(turn_id)], [turn_id, body])

    def start_delivery(self, turn_id: str) -> None:
        """Note that a turn's answer is going out.

        Raises:
            ChannelLeaseLost, StorageUnavailable: as ``settle``.
        """
        self._write("deliver", [self._keys.turn(turn_id)], [])

    def end(self, turn_id: str, terminal: str, *, reason: str, receipts: Iterable[str]) -> bool:
        """Note a turn's terminal event, once, and be done with its messages.

        Returns:
            False when it had ended before, or is not known; its messages are done with all the same.

        Raises:
            ChannelLeaseLost, StorageUnavailable: as ``settle``.
        """
        keys = [self._keys.turns, self._keys.turn(turn_id), self._keys.inbox]
        args = [turn_id, terminal, reason, KNOWN_MS, *receipts]
        return bool(self._write("end", keys, args)[0] == "ended")

    def unfinished(self) -> list[StoredTurn]:
        """Turns that have begun and not ended, the oldest first.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        rows = self._rows(self._keys.turns, self._keys.turn)
        return [StoredTurn(row["body"], row["state"]) for _, row in rows]

    def add(self, parts: Sequence[tuple[str, str, str]]) -> None:
        """Store messages on their way out, in their order; what is known stays as it is.

        Args:
            parts: key, body and turn id (empty for none) of each.

        Raises:
            ChannelLeaseLost, StorageUnavailable, StorageFull: as ``begin``; some may be stored.
        """
        for key, body, turn_id in parts:
            self._write("add", [self._keys.outbox, self._keys.part(key)], [key, body, turn_id])

    def mark_sending(self, key: str, *, attempt: str) -> PartState:
        """Note that a message is being handed over; returns its state before.

        Args:
            attempt: names this one for ever, so that a repeat of the call has the same answer.

        Raises:
            ChannelLeaseLost, StorageUnavailable: as ``settle``.
        """
        state: PartState = self._write("sending", [self._keys.part(key)], [attempt])[1]
        return state

    def mark_sent(self, key: str, provider_id: str) -> None:
        """Note that a message was taken, or is given up; its text is forgotten.

        Raises:
            ChannelLeaseLost, StorageUnavailable: as ``settle``.
        """
        keys = [self._keys.outbox, self._keys.part(key)]
        self._write("sent", keys, [key, provider_id, KNOWN_MS])

    def unsent(self) -> list[StoredPart]:
        """Messages that have not been sent for sure, the oldest first.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        rows = self._rows(self._keys.outbox, self._keys.part)
        return [StoredPart(key, row["body"], row["turn"], row["state"]) for key, row in rows]

    def save_routes(self, text: str) -> None:
        """Replace which session serves whom.

        Raises:
            ChannelLeaseLost, StorageUnavailable: as ``settle``.
        """
        self._write("route", [self._keys.routes], [text])

    def load_routes(self) -> str | None:
        """What was saved last; None when nothing was.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors():
            return cast("str | None", self._redis.get(self._keys.routes))

    def _write(self, name: str, keys: Sequence[str], args: Sequence[Any]) -> list[Any]:
        answer = self._scripts.call(name, [self._keys.lease, *keys], [self._token, *args])
        if answer[0] == "stale":
            raise ChannelLeaseLost(f"another process serves channel {self._keys.channel}")
        return answer

    def _rows(self, index: str, key_of: Any) -> list[tuple[str, Mapping[str, str]]]:
        with storage_errors():
            names = cast("list[str]", self._redis.zrange(index, 0, -1))
            with self._redis.pipeline(transaction=False) as pipe:
                for name in names:
                    pipe.hgetall(key_of(name))
                rows = pipe.execute()
        return [(name, row) for name, row in zip(names, rows, strict=True) if row.get("body")]


@cache
def source(name: str) -> str:
    """Full source of a script as it is sent to Redis."""
    return assembled(lua("events.chat", name), [lua("events.chat", "lease")])
