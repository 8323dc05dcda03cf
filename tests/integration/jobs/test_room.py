"""What a client is told of when a full lane has room again."""

import pytest

from jobs.errors import QueueFull
from jobs.intake import HELD_RETRY_S
from jobs.limits import MAX_PENDING, MAX_UPKEEP
from tests.support.lane import LaneUnderTest


@pytest.mark.parametrize(("ran_ms", "wait_s"), [(3_000, (9, 10)), (60_000, (1, 1))])
def test_a_full_lane_is_worth_another_try_when_its_running_task_is_likely_to_have_ended(
    lane: LaneUnderTest, ran_ms: int, wait_s: tuple[int, int]
):
    for _ in range(MAX_PENDING):
        lane.submit()
    lane.granted()
    lane.redis.hset(lane.keys.lane, "avgMs", 12_000)
    lane.redis.hincrby(lane.keys.lane, "leasedAtMs", -ran_ms)

    with pytest.raises(QueueFull) as refused:
        lane.submit()

    assert wait_s[0] - 1 <= refused.value.retry_after_s <= wait_s[1]


def test_room_for_upkeep_comes_when_the_first_of_it_has_ended(lane: LaneUnderTest):
    lane.submit()
    lane.granted()
    lane.submit()
    for _ in range(MAX_UPKEEP):
        lane.submit(kind="dream")
    lane.redis.hset(lane.keys.lane, "avgMs", 10_000)

    with pytest.raises(QueueFull) as refused:
        lane.submit(kind="dream")

    assert 29 <= refused.value.retry_after_s <= 30
    assert lane.submit()[1].position == MAX_UPKEEP + 2


def test_nobody_knows_when_a_held_lane_has_room_again(lane: LaneUnderTest):
    for _ in range(MAX_PENDING):
        lane.submit()
    lane.upkeep.hold(lane.workspace)

    with pytest.raises(QueueFull) as refused:
        lane.submit()

    assert refused.value.retry_after_s == HELD_RETRY_S
