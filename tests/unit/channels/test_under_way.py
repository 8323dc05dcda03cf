"""What goes on beside whoever began it."""

import asyncio

import pytest

from channels.under_way import UnderWay


async def test_settling_waits_for_what_is_begun_meanwhile():
    tasks, told = UnderWay(), []

    async def second():
        told.append("second")

    async def first():
        await asyncio.sleep(0)
        tasks.begin(second())
        told.append("first")

    tasks.begin(first())
    await tasks.settle()

    assert told == ["first", "second"]
    assert len(tasks) == 0


async def test_what_is_cancelled_has_cleaned_up_when_it_has_settled():
    tasks, told = UnderWay(), []

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            told.append("cleaned up")

    tasks.begin(work())
    await asyncio.sleep(0)
    tasks.cancel()
    await tasks.settle()

    assert told == ["cleaned up"]


async def test_one_that_ended_is_enough_to_go_on():
    tasks, blocked = UnderWay(), asyncio.Event()
    tasks.begin(asyncio.sleep(0))
    tasks.begin(_wait(blocked))

    await tasks.one_ended()

    assert len(tasks) == 1
    blocked.set()
    await tasks.settle()


async def test_a_wait_with_a_limit_leaves_what_goes_on_alone():
    tasks, blocked = UnderWay(), asyncio.Event()
    task = tasks.begin(_wait(blocked))

    await tasks.settle_some(limit_s=0)

    assert not task.done()
    blocked.set()
    await tasks.settle()


async def test_what_raises_spoils_nothing_but_its_own_task():
    tasks = UnderWay()

    async def fail():
        raise ValueError("no")

    task = tasks.begin(fail())
    await tasks.settle()

    with pytest.raises(ValueError, match="no"):
        task.result()


async def test_nothing_is_waited_for_where_nothing_is_under_way():
    tasks = UnderWay()

    await tasks.one_ended()
    await tasks.settle_some(limit_s=60)
    await tasks.settle()


async def _wait(event: asyncio.Event) -> None:
    await event.wait()
