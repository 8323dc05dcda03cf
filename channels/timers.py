"""Waiting for a time, kept apart so that whoever drives a channel can move time by hand."""

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeVar

_T = TypeVar("_T")


FIRST_PAUSE_MS = 1_000
LONGEST_PAUSE_MS = 60_000


class Timers(Protocol):
    """Calls back later, on the running event loop."""

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Callable[[], None]:
        """Have something called after a while; returns what calls that off, as often as one likes."""
        ...


class LoopTimers:
    """The timers of the running event loop."""

    def call_later(self, delay_ms: int, callback: Callable[[], None]) -> Callable[[], None]:
        """See ``Timers``."""
        return asyncio.get_running_loop().call_later(delay_ms / 1000, callback).cancel


async def pause(duration_ms: int, timers: Timers) -> None:
    """Wait for a time."""
    over = asyncio.Event()
    call_off = timers.call_later(duration_ms, over.set)
    try:
        await over.wait()
    finally:
        call_off()


async def settled_within(future: "asyncio.Future[Any]", limit_ms: int, timers: Timers) -> bool:
    """Wait for a future, but not for long; leaves it alone, and its outcome to who asks for it.

    Returns:
        Whether it is done.
    """
    expiry = asyncio.Event()
    call_off = timers.call_later(limit_ms, expiry.set)
    waiting = asyncio.create_task(expiry.wait())
    try:
        await asyncio.wait({future, waiting}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        call_off()
        waiting.cancel()
    return future.done()


async def in_time(call: Coroutine[Any, Any, _T], limit_ms: int, timers: Timers) -> _T:
    """Make a call; when this returns or raises, it is over.

    Limits of clients are often for each piece of an answer: one that trickles in takes for ever.

    Raises:
        TimeoutError: it was not done in time, and was called off.
    """
    task = asyncio.create_task(call)
    try:
        if await settled_within(task, limit_ms, timers):
            return task.result()
        raise TimeoutError
    finally:
        task.cancel()
        await asyncio.wait({task})


def jitter() -> float:
    """Another number from 0 to 1 each time, which keeps processes apart that failed together."""
    return random.random()  # noqa: S311 - no secret depends on it


def backoff_ms(failures: int, *, jitter: float) -> int:
    """How long to wait after so many failures in a row, milliseconds.

    Args:
        failures: at least one.
        jitter: see there.
    """
    grown_ms = min(FIRST_PAUSE_MS << min(failures - 1, 10), LONGEST_PAUSE_MS)
    return round(grown_ms * (0.5 + jitter / 2))
