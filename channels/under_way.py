"""Work that goes on beside whoever began it."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class UnderWay:
    """Tasks that were begun and have not ended; without somebody who holds them they may vanish half-done."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Have something done beside whatever else is; what it raises is for who waits for the task."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def cancel(self) -> None:
        """Give up everything; ``settle`` waits until it has ended."""
        for task in self._tasks:
            task.cancel()

    async def settle(self) -> None:
        """Wait until everything has ended, also what is begun meanwhile."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def settle_some(self, *, limit_s: float) -> None:
        """Wait until what is under way now has ended, but no more than so many seconds."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=limit_s)

    async def one_ended(self) -> None:
        """Wait until something has ended; at once when nothing is under way."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), return_when=asyncio.FIRST_COMPLETED)
