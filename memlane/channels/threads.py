"""Calls that block, made beside the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

THREADS = 16

_T = TypeVar("_T")


async def beside(call: Callable[[], _T]) -> _T:
    """Have a call made on another thread.

    When the caller is cancelled it still waits for the call's end: whatever comes next comes after it.

    Raises:
        Exception: what the call raises.
    """
    made = asyncio.ensure_future(asyncio.to_thread(call))
    try:
        return await asyncio.shield(made)
    except asyncio.CancelledError:
        await asyncio.wait({made})
        raise


def make_room(*, waiting: int) -> None:
    """Have the running loop make calls at once although so many others wait for something all the time.

    It would have as few threads as the machine has processors, and four.
    """
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS + waiting))
