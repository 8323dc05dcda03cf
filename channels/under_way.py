"""Work that goes on beside whoever began it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from core.errors import MemlaneError
from core.logs import get_logger

_log = get_logger(__name__)


class UnderWay:
    """Tasks that were begun and have not ended; without somebody who holds them they may vanish half-done."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Have something done beside whatever else is; what it raises is told in the log."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.warning(
                "channel_work_failed",
                reason=type(error).__name__,
                exc_info=None if isinstance(error, MemlaneError) else error,
            )

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
