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
        """Have something done beside whatever else is; what it raises is for who asks the task."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def wind_up(self, *, limit_s: float | None) -> None:
        """Let all end, and cut off what does not in so many seconds; none of it runs afterwards.

        Args:
            limit_s: None for however long it takes.
        """
        if self._tasks:
            await asyncio.wait(tuple(self._tasks), timeout=limit_s)
        for task in (left := tuple(self._tasks)):
            task.cancel()
        if left:
            await asyncio.wait(left)

    async def one_ended(self) -> None:
        """Wait until something has ended; at once when nothing is under way."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), return_when=asyncio.FIRST_COMPLETED)
