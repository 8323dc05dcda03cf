"""Calls to Telegram that end in time."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from telegram.error import TimedOut

from channels.timers import Timers, settled_within

_T = TypeVar("_T")


async def in_time(call: Coroutine[Any, Any, _T], limit_ms: int, timers: Timers) -> _T:
    """Make a call; when this returns or raises, it is over, also for Telegram.

    The client's own limits are for each piece of an answer: one that trickles in takes for ever.

    Raises:
        TimedOut: there was no whole answer in time.
    """
    task = asyncio.create_task(call)
    try:
        if await settled_within(task, limit_ms, timers):
            return task.result()
        raise TimedOut
    finally:
        task.cancel()
        await asyncio.wait({task})
