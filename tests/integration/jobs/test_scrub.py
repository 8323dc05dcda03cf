"""Requests and results of ended tasks go when memory has forgotten what they quote."""

from dataclasses import replace

import pytest

from core.ids import new_task_id
from events.connect import connect
from tests.support.lane import DONE, LaneUnderTest

END = replace(DONE, result={"summary": "Saved hunter2.", "touchedScopes": ["user"]}, revision="r1")


@pytest.fixture
def lane(redis_url: str) -> LaneUnderTest:
    return LaneUnderTest(connect(redis_url))


def test_an_ended_task_keeps_its_record_without_what_it_quoted(lane: LaneUnderTest) -> None:
    task, _ = lane.submit("hunter2")
    lane.finish(lane.granted(), END)
    life_ms = lane.redis.pttl(lane.keys.task(task))

    for _ in range(2):
        lane.lanes.scrub(lane.workspace, [task])

    found = lane.task(task)
    assert found is not None
    assert (found.status, found.revision) == ("completed", "r1")
    assert found.result == {"summary": "", "touchedScopes": [], "purged": True}
    assert lane.redis.get(lane.keys.input(task)) is None
    assert 0 < lane.redis.pttl(lane.keys.task(task)) <= life_ms


def test_a_failed_task_gets_no_result(lane: LaneUnderTest) -> None:
    task, _ = lane.submit("hunter2")
    lane.finish(lane.granted(), replace(END, status="failed", result=None, code="remember_failed"))

    lane.lanes.scrub(lane.workspace, [task])

    found = lane.task(task)
    assert found is not None
    assert (found.result, lane.redis.get(lane.keys.input(task))) == (None, None)


def test_what_has_not_ended_or_is_unknown_stays_as_it_is(lane: LaneUnderTest) -> None:
    running, _ = lane.submit()
    queued, _ = lane.submit()
    lane.granted()
    names = [name for task in (running, queued) for name in (lane.keys.task(task), lane.keys.input(task))]
    before = [lane.redis.dump(name) for name in names]

    lane.lanes.scrub(lane.workspace, [running, queued, new_task_id("remember")] * 100)

    assert [lane.redis.dump(name) for name in names] == before
    assert len(lane.redis.keys(f"{lane.keys.base}:task:*")) == 2
