"""What is asked of memory in a chat, in the lane of its workspace."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from channels.envelope import Target
from channels.memory_lane import MemoryReport, MemoryRequest
from core.settings import Settings
from core.workspaces import Workspace
from events.connect import connect
from jobs.broker import Doorbell, open_broker
from jobs.client import JobsClient
from memlane.channels.lane import GONE, WorkspaceLane
from memory.errors import RevisionNotFound
from memory.library import Library
from tests.support.lane import LaneUnderTest, limits
from tests.support.redis_proxy import redis_proxy
from tests.support.waiting import until

REQUEST = MemoryRequest("remember", "tea", "k", Target(channel_name="team", sender_id="u", chat_id="c"))


@pytest.fixture
def lane(redis_url):
    return LaneUnderTest(connect(redis_url))


def asked_through(url, broker_url, lane, *, base=Path("/srv/memory")):
    bell = Doorbell(open_broker(Settings(redis_url=url, broker_url=broker_url)), connect(url))
    jobs = JobsClient(connect(url, retries=0), bell, limits())
    workspace = Workspace(lane.workspace, "/srv/work", primary=True)
    return WorkspaceLane(jobs, workspace, Library(base, local=False))


async def granted(lane):
    await asyncio.to_thread(until, lambda: lane.redis.llen(lane.keys.pending))
    return lane.granted()


async def test_a_request_is_a_task_and_its_end_is_told(redis_url, broker_url, lane):
    asking = asyncio.create_task(asked_through(redis_url, broker_url, lane).ask(REQUEST))
    lane.finish(await granted(lane))

    assert await asking == MemoryReport("completed", "Saved.")


async def test_the_same_key_is_the_same_task(redis_url, broker_url, lane):
    asked = asked_through(redis_url, broker_url, lane)
    first, second = (asyncio.create_task(asked.ask(REQUEST)) for _ in range(2))
    lane.finish(await granted(lane))

    assert await first == await second == MemoryReport("completed", "Saved.")
    assert lane.claim() is None


async def test_an_outage_while_it_waits_is_not_told_as_a_failure(redis_server, broker_url, lane):
    with redis_proxy(redis_server.state_url) as proxy:
        url = proxy.url(0)
        asking = asyncio.create_task(asked_through(url, broker_url, lane).ask(REQUEST))
        grant = await granted(lane)
        lost = proxy.lose_reply(grant.task.id)
        await asyncio.to_thread(lost.happened.wait, 10)
        lane.finish(grant)

        assert await asking == MemoryReport("completed", "Saved.")


async def test_a_task_whose_record_is_gone_is_waited_for_no_longer(redis_url, broker_url, lane):
    asking = asyncio.create_task(asked_through(redis_url, broker_url, lane).ask(REQUEST))
    grant = await granted(lane)
    lane.redis.delete(lane.keys.task(grant.task.id))

    assert await asking == MemoryReport("failed", GONE)


@pytest.mark.parametrize("named", ["nonsense", "r9", "../r1", "r1 r2", "r" * 5000])
async def test_taking_back_what_never_was_is_refused_and_reaches_no_worker(
    redis_url, broker_url, lane, tmp_path, named
):
    asked = asked_through(redis_url, broker_url, lane, base=tmp_path)
    with pytest.raises(RevisionNotFound):
        await asked.ask(replace(REQUEST, kind="undo", text=named))

    assert lane.claim() is None


async def test_taking_back_what_never_was_is_refused_while_others_wait_too(
    redis_url, broker_url, lane, tmp_path
):
    lane.submit()
    asked = asked_through(redis_url, broker_url, lane, base=tmp_path)
    with pytest.raises(RevisionNotFound):
        await asked.ask(replace(REQUEST, kind="undo", text="nonsense"))

    assert lane.redis.llen(lane.keys.pending) == 1
