"""Stores that live as long as their process, for a chat that nobody expects to outlive it."""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from channels.envelope import Envelope
from channels.inbox import StoredMessage
from channels.ledger import Settlement, TurnRecord, UnfinishedTurn
from channels.lifecycle import TerminalType
from channels.outbox import OutboundPart, PartState
from channels.routes import Route, RouteKey
from core.ids import new_uuid

MAX_REMEMBERED = 1_000


class VolatileLedger:
    """A ``TurnLedger``. Turns that have ended are forgotten."""

    def __init__(self) -> None:
        self._turns: dict[str, UnfinishedTurn] = {}

    async def begin(self, turn: TurnRecord) -> None:
        """See ``TurnLedger``."""
        self._turns.setdefault(turn.turn_id, UnfinishedTurn(turn, is_delivering=False))

    async def start_delivery(self, turn_id: str) -> None:
        """See ``TurnLedger``."""
        if turn_id in self._turns:
            self._turns[turn_id] = replace(self._turns[turn_id], is_delivering=True)

    async def end(self, turn: TurnRecord, _terminal: TerminalType, *, reason: str | None = None) -> bool:
        """See ``TurnLedger``."""
        del reason  # nobody asks for it afterwards
        return self._turns.pop(turn.turn_id, None) is not None

    async def unfinished(self) -> Sequence[UnfinishedTurn]:
        """See ``TurnLedger``."""
        return tuple(self._turns.values())

    async def settle(self, _receipts: Sequence[str], _settlement: Settlement) -> None:
        """See ``TurnLedger``; nothing was stored."""


class VolatileOutbox:
    """An ``Outbox``. Of what has been sent it remembers the last keys only."""

    def __init__(self) -> None:
        self._parts: dict[str, OutboundPart] = {}
        self._sent: deque[str] = deque(maxlen=MAX_REMEMBERED)

    async def add(self, parts: Sequence[OutboundPart]) -> None:
        """See ``Outbox``."""
        for part in parts:
            if part.key not in self._sent:
                self._parts.setdefault(part.key, part)

    async def mark_sending(self, key: str) -> PartState:
        """See ``Outbox``."""
        part = self._parts.get(key)
        if part is None:
            return "sent"
        self._parts[key] = replace(part, state="sending")
        return part.state

    async def mark_sent(self, key: str, _provider_id: str | None) -> None:
        """See ``Outbox``."""
        await self.give_up([key])

    async def give_up(self, keys: Sequence[str]) -> None:
        """See ``Outbox``."""
        for key in keys:
            if self._parts.pop(key, None) is not None:
                self._sent.append(key)

    async def unsent(self) -> Sequence[OutboundPart]:
        """See ``Outbox``."""
        return tuple(self._parts.values())


class VolatileRoutes:
    """A ``RouteStore`` that starts empty."""

    def __init__(self) -> None:
        self._routes: Mapping[RouteKey, Route] = {}

    async def load(self) -> Mapping[RouteKey, Route]:
        """See ``RouteStore``."""
        return self._routes

    async def save(self, routes: Mapping[RouteKey, Route]) -> None:
        """See ``RouteStore``."""
        self._routes = dict(routes)


class VolatileInbox:
    """An ``Inbox`` that holds what nobody took yet, and remembers every key that it saw."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._waiting: asyncio.Queue[StoredMessage] = asyncio.Queue()

    async def put(self, envelope: Envelope, *, keys: Sequence[str]) -> bool:
        """See ``Inbox``."""
        if self._known.intersection(keys):
            return False
        self._known.update(keys)
        receipt = new_uuid()
        self._waiting.put_nowait(StoredMessage(receipt, envelope.model_copy(update={"receipts": (receipt,)})))
        return True

    async def take(self) -> Sequence[StoredMessage]:
        """See ``Inbox``."""
        return (await self._waiting.get(),)
