"""What a channel keeps, in Redis: the stores that ``channels`` asks for, over the one that ``events`` has."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from channels.envelope import Envelope
from channels.inbox import StoredMessage
from channels.ledger import Settlement, TurnRecord, UnfinishedTurn
from channels.lifecycle import TerminalType
from channels.outbox import OutboundPart, PartState
from channels.routes import Route, RouteKey
from core.ids import new_uuid
from core.logs import get_logger
from events.chat.store import ChannelStore
from events.errors import StorageFull, StorageUnavailable
from memlane.channels.rows import (
    message_text,
    messages_in,
    part_text,
    parts_in,
    routes_in,
    routes_text,
    turn_text,
    turns_in,
)
from memlane.channels.threads import beside

PAUSE_S = 0.5
READ_WAIT_MS = 500

_T = TypeVar("_T")

_log = get_logger(__name__)


class Patience:
    """Asks Redis beside the event loop, if need be again and again while it is away."""

    def __init__(self, *, pause_s: float = PAUSE_S) -> None:
        self._pause_s = pause_s

    async def ask(self, call: Callable[[], _T]) -> _T:
        """Have a call made on another thread until it comes through; what it asks may be repeated.

        Raises:
            ChannelLeaseLost: another process serves the channel.
        """
        for attempt in range(1_000_000_000):
            try:
                return await self.ask_once(call)
            except (StorageUnavailable, StorageFull) as error:
                if attempt.bit_count() <= 1:  # 0, 1, 2, 4, 8…
                    _log.warning("channel_storage_away", reason=error.code, attempt=attempt)
                await asyncio.sleep(self._pause_s)
        raise AssertionError("nobody waits that long")

    async def ask_once(self, call: Callable[[], _T]) -> _T:
        """Have a call made on another thread.

        Raises:
            MemlaneError: what it raises.
        """
        return await beside(call)


class StoredLedger:
    """A ``TurnLedger``."""

    def __init__(self, store: ChannelStore, patience: Patience) -> None:
        self._store = store
        self._patience = patience

    async def begin(self, turn: TurnRecord) -> None:
        """See ``TurnLedger``."""
        body = turn_text(turn)
        await self._patience.ask(lambda: self._store.begin(turn.turn_id, body))

    async def start_delivery(self, turn_id: str) -> None:
        """See ``TurnLedger``."""
        await self._patience.ask(lambda: self._store.start_delivery(turn_id))

    async def end(self, turn: TurnRecord, terminal: TerminalType, *, reason: str | None = None) -> bool:
        """See ``TurnLedger``."""
        return await self._patience.ask(
            lambda: self._store.end(turn.turn_id, terminal, reason=reason or "", receipts=turn.receipts)
        )

    async def unfinished(self) -> Sequence[UnfinishedTurn]:
        """See ``TurnLedger``."""
        return turns_in(await self._patience.ask(self._store.unfinished))

    async def settle(self, receipts: Sequence[str], _settlement: Settlement) -> None:
        """See ``TurnLedger``."""
        await self._patience.ask(lambda: self._store.settle(receipts))


class StoredOutbox:
    """An ``Outbox``."""

    def __init__(self, store: ChannelStore, patience: Patience) -> None:
        self._store = store
        self._patience = patience

    async def add(self, parts: Sequence[OutboundPart]) -> None:
        """See ``Outbox``."""
        rows = [(part.key, part_text(part), part.turn_id or "") for part in parts]
        await self._patience.ask(lambda: self._store.add(rows))

    async def mark_sending(self, key: str) -> PartState:
        """See ``Outbox``."""
        attempt = new_uuid()
        return await self._patience.ask(lambda: self._store.mark_sending(key, attempt=attempt))

    async def mark_sent(self, key: str, provider_id: str | None) -> None:
        """See ``Outbox``."""
        await self._patience.ask(lambda: self._store.mark_sent(key, provider_id or ""))

    async def give_up(self, keys: Sequence[str]) -> None:
        """See ``Outbox``."""
        for key in keys:
            await self.mark_sent(key, None)

    async def unsent(self) -> Sequence[OutboundPart]:
        """See ``Outbox``."""
        return parts_in(await self._patience.ask(self._store.unsent))


class StoredInbox:
    """An ``Inbox``."""

    def __init__(self, store: ChannelStore, patience: Patience) -> None:
        """Begin with the oldest message."""
        self._store = store
        self._patience = patience
        self._taken = "0"

    async def put(self, envelope: Envelope, *, keys: Sequence[str]) -> bool:
        """See ``Inbox``."""
        return await self._patience.ask_once(lambda: put_message(self._store, envelope, keys=keys))

    async def take(self) -> Sequence[StoredMessage]:
        """See ``Inbox``."""
        messages: Sequence[StoredMessage] = ()
        while not messages:
            messages = await self._patience.ask(lambda: self.look(wait_ms=READ_WAIT_MS))
        return messages

    def look(self, *, wait_ms: int | None) -> Sequence[StoredMessage]:
        """The next messages; none if none comes in so many milliseconds, > 0, or is there if that is None."""
        rows = self._store.read(after=self._taken, wait_ms=wait_ms)
        if rows:
            self._taken = rows[-1][0]
        return messages_in(rows)


class StoredRoutes:
    """A ``RouteStore``."""

    def __init__(self, store: ChannelStore, patience: Patience) -> None:
        self._store = store
        self._patience = patience
        self._saving = asyncio.Lock()

    async def load(self) -> Mapping[RouteKey, Route]:
        """See ``RouteStore``."""
        return routes_in(await self._patience.ask_once(self._store.load_routes))

    async def save(self, routes: Mapping[RouteKey, Route]) -> None:
        """See ``RouteStore``."""
        text = routes_text(routes)
        async with self._saving:  # on threads of their own a later one might come first
            await self._patience.ask_once(lambda: self._store.save_routes(text))


def put_message(store: ChannelStore, envelope: Envelope, *, keys: Sequence[str]) -> bool:
    """Store a message for whoever serves its channel, see ``Inbox.put``."""
    return store.put(message_text(envelope), keys=keys)
