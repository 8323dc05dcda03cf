"""What goes on beside whoever began it."""

import asyncio

import pytest

from channels.under_way import UnderWay


async def test_what_ends_in_time_is_let_end():
    tasks, told = UnderWay(), []

    async def work():
        await asyncio.sleep(0)
        told.append("done")

    tasks.begin(work())
    await tasks.wind_up(limit_s=60)

    assert told == ["done"]
    assert len(tasks) == 0


async def test_what_is_cut_off_has_cleaned_up_by_then():
    tasks, told = UnderWay(), []

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            told.append("cleaned up")

    tasks.begin(work())
    await asyncio.sleep(0)
    await tasks.wind_up(limit_s=0)

    assert told == ["cleaned up"]


async def test_one_that_ended_is_enough_to_go_on():
    tasks, blocked = UnderWay(), asyncio.Event()
    tasks.begin(asyncio.sleep(0))
    tasks.begin(_wait(blocked))

    await tasks.one_ended()

    assert len(tasks) == 1
    await tasks.wind_up(limit_s=0)


async def test_what_raises_spoils_nothing_but_its_own_task():
    tasks = UnderWay()

    async def fail():
        raise ValueError("no")

    task = tasks.begin(fail())
    await tasks.wind_up(limit_s=60)

    with pytest.raises(ValueError, match="no"):
        task.result()


async def test_nothing_is_waited_for_where_nothing_is_under_way():
    tasks = UnderWay()

    await tasks.one_ended()
    await tasks.wind_up(limit_s=60)


async def _wait(event: asyncio.Event) -> None:
    await event.wait()
