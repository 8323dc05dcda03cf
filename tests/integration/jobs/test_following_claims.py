"""The end of a task and the claim of the next one, in one step."""

from typing import Any

import pytest

from core.ids import ClaimId
from events.connect import connect
from jobs.lanes import Finished, Grant
from jobs.tasks import End
from tests.support.lane import DONE, LaneUnderTest

NEXT = "w:2"


@pytest.fixture
def lane(redis_url: str) -> LaneUnderTest:
    return LaneUnderTest(connect(redis_url))


def finish_and_claim(
    lane: LaneUnderTest, grant: Grant, *, end: End = DONE, claim: str = NEXT, store_id: str = "store"
) -> tuple[Finished, Grant | None]:
    return lane.lanes.finish_and_claim(lane.workspace, grant, end, claim=ClaimId(claim), store_id=store_id)


def state(lane: LaneUnderTest) -> tuple[Any, ...]:
    redis, keys = lane.redis, lane.keys
    return redis.hgetall(keys.lane), redis.lrange(keys.pending, 0, -1), len(lane.events())


def test_the_next_task_is_granted_with_a_greater_fence(lane: LaneUnderTest):
    first, _ = lane.submit()
    second, _ = lane.submit()
    grant = lane.granted()

    finished, following = finish_and_claim(lane, grant)

    assert finished.answer == "ok"
    assert following is not None
    assert (following.task.id, following.claim, following.mode) == (second, NEXT, "run")
    assert following.fence > grant.fence
    assert [event.type for event in lane.events()][-2:] == ["task_completed", "task_running"]
    task = lane.task(first)
    assert task is not None
    assert task.status == "completed"


def test_a_lane_without_further_work_rests(lane: LaneUnderTest):
    lane.submit()

    finished, following = finish_and_claim(lane, lane.granted())

    assert (finished, following) == (Finished("ok"), None)
    assert lane.redis.zscore(lane.keys.partition.due, lane.workspace) is None
    assert lane.redis.ttl(lane.keys.lane) > 0


def test_a_repeat_gets_the_same_grant_and_changes_nothing(lane: LaneUnderTest):
    for _ in range(3):
        lane.submit()
    grant = lane.granted()
    _, following = finish_and_claim(lane, grant)
    before = state(lane)

    finished, again = finish_and_claim(lane, grant)

    assert (finished.answer, again) == ("already", following)
    assert state(lane) == before


def test_a_holder_that_lost_its_lane_gets_no_task_and_changes_nothing(lane: LaneUnderTest):
    for _ in range(2):
        lane.submit()
    grant = lane.granted()
    lane.expire_lease()
    lane.redis.hset(lane.keys.lane, "recovered", 1)
    lane.granted()
    before = state(lane)

    assert finish_and_claim(lane, grant) == (Finished("fenced"), None)
    assert state(lane) == before


def test_a_held_lane_gives_no_further_task(lane: LaneUnderTest):
    for _ in range(2):
        lane.submit()
    grant = lane.granted()
    lane.upkeep.hold(lane.workspace)

    assert finish_and_claim(lane, grant) == (Finished("ok"), None)
    assert lane.redis.llen(lane.keys.pending) == 1


def test_another_store_ends_its_task_but_gets_no_other(lane: LaneUnderTest):
    for _ in range(2):
        lane.submit()
    grant = lane.granted()

    finished, following = finish_and_claim(lane, grant, store_id="another")

    assert (finished.answer, following) == ("ok", None)
    assert lane.redis.llen(lane.keys.pending) == 1
    assert lane.redis.zscore(lane.keys.partition.due, lane.workspace) is not None


def test_events_of_one_step_ring_once(lane: LaneUnderTest):
    for _ in range(2):
        lane.submit()
    grant = lane.granted()
    with lane.redis.pubsub() as pubsub:
        pubsub.subscribe(lane.keys.channel)
        pubsub.get_message(timeout=5)

        finish_and_claim(lane, grant, end=End("completed", result={}, memory_changed={"taskId": "t"}))

        newest = lane.events()[-1].id
        assert pubsub.get_message(timeout=5)["data"] == str(newest)
        assert pubsub.get_message() is None
