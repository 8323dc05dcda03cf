"""What goes on beside whoever began it."""

import asyncio

import pytest
from structlog.testing import capture_logs

from channels.errors import AgentSessionFailed
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


@pytest.mark.parametrize(
    ("error", "is_shown_whole"), [(AgentSessionFailed("gone"), False), (ValueError("a fault of ours"), True)]
)
async def test_what_is_raised_is_told_in_the_log_and_spoils_nothing_else(error, is_shown_whole):
    tasks, told = UnderWay(), []

    async def fail():
        raise error

    async def work():
        await asyncio.sleep(0)
        told.append("done")

    with capture_logs() as lines:
        tasks.begin(fail())
        tasks.begin(work())
        await tasks.wind_up(limit_s=60)

    assert told == ["done"]
    (line,) = lines
    assert (line["event"], line["reason"]) == ("channel_work_failed", type(error).__name__)
    assert (line["exc_info"] is error) == is_shown_whole


async def test_what_is_cut_off_is_no_failure():
    tasks = UnderWay()
    with capture_logs() as lines:
        tasks.begin(asyncio.sleep(60))
        await tasks.wind_up(limit_s=0)

    assert lines == []


async def test_nothing_is_waited_for_where_nothing_is_under_way():
    tasks = UnderWay()

    await tasks.one_ended()
    await tasks.wind_up(limit_s=60)


async def _wait(event: asyncio.Event) -> None:
    await event.wait()
