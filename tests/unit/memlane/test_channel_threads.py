"""Calls that block, made beside the event loop."""

import asyncio
import threading

from memlane.channels.threads import beside, make_room
from tests.support.channels.scene import settle

CHANNELS = 40


async def test_a_call_is_made_at_once_although_many_channels_wait_for_messages():
    make_room(waiting=CHANNELS)
    nothing_comes = threading.Event()
    waiting = [asyncio.create_task(beside(nothing_comes.wait)) for _ in range(CHANNELS)]
    await settle()
    made = asyncio.create_task(beside(lambda: "made"))
    await asyncio.wait({made}, timeout=10)
    is_made = made.done()
    nothing_comes.set()
    await asyncio.wait([*waiting, made])

    assert is_made


async def test_who_is_cancelled_still_waits_for_the_call_s_end():
    begun, goes_on, ended = threading.Event(), threading.Event(), threading.Event()

    def call():
        begun.set()
        goes_on.wait()
        ended.set()

    calling = asyncio.create_task(beside(call))
    await asyncio.to_thread(begun.wait)
    calling.cancel()
    asyncio.get_running_loop().call_soon(goes_on.set)
    await asyncio.wait({calling})

    assert ended.is_set()
    assert calling.cancelled()
