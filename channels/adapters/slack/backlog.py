"""Events that were received and are not stored yet."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from channels.timers import Timers, backoff_ms, jitter, pause
from core.errors import MemlaneError

MAX_WAITING = 256

Take = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Stores the event of a payload; raises MemlaneError when that failed."""


@dataclass(frozen=True, slots=True)
class Received:
    """An event as it came.

    Attributes:
        acknowledge: tells Slack that it is stored.
    """

    payload: Mapping[str, Any]
    acknowledge: Callable[[], Awaitable[None]]


class Backlog:
    """Stores events in their order, each however long that takes, while others are received.

    A connection that is not read ends, and Slack repeats what it could not deliver for some minutes only.

    Attributes:
        trouble: why nothing can be stored now; None while it can.
    """

    def __init__(self, take: Take, *, when_changed: Callable[[], None], timers: Timers) -> None:
        """Bind the parts.

        Args:
            when_changed: called once ``trouble`` may be another.
        """
        self._take = take
        self._when_changed = when_changed
        self._timers = timers
        self._waiting: asyncio.Queue[Received] = asyncio.Queue(MAX_WAITING)
        self.trouble: str | None = None

    async def add(self, received: Received) -> None:
        """Have an event stored after those before it; waits while there are too many."""
        await self._waiting.put(received)

    async def run(self) -> None:
        """Store until this is cancelled; Slack sends again what is not stored by then."""
        while True:
            received = await self._waiting.get()
            await self._store(received.payload)
            await received.acknowledge()

    async def _store(self, payload: Mapping[str, Any]) -> None:
        failures = 0
        while True:
            try:
                await self._take(payload)
            except MemlaneError as error:
                failures += 1
                self._found(f"messages can't be stored: {error.code}")
                await pause(backoff_ms(failures, jitter=jitter()), self._timers)
            else:
                self._found(None)
                return

    def _found(self, trouble: str | None) -> None:
        self.trouble = trouble
        self._when_changed()
