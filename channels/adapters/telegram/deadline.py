"""Calls to Telegram that end in time."""

from collections.abc import Coroutine
from typing import Any, TypeVar

from telegram.error import TimedOut

from channels.timers import Timers
from channels.timers import in_time as done_in_time

_T = TypeVar("_T")


async def in_time(call: Coroutine[Any, Any, _T], limit_ms: int, timers: Timers) -> _T:
    """Make a call, see ``channels.timers``.

    Raises:
        TimedOut: there was no whole answer in time.
    """
    try:
        return await done_in_time(call, limit_ms, timers)
    except TimeoutError:
        raise TimedOut from None
