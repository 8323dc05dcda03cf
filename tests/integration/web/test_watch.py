"""Waiting for news of a task, on the events that a process follows."""

import socket
from collections.abc import Iterator

import pytest

from core.ids import TaskId
from events.connect import connect
from events.hub import EventHub, open_hub
from tests.support.lane import LaneUnderTest
from web.watch import TaskWatch

LONG_S = 60.0


@pytest.fixture
def lane(redis_url: str) -> LaneUnderTest:
    return LaneUnderTest(connect(redis_url))


@pytest.fixture
def hub(redis_url: str, lane: LaneUnderTest) -> Iterator[EventHub]:
    hub = open_hub(redis_url, [lane.workspace])
    yield hub
    hub.close()


@pytest.fixture
def task(lane: LaneUnderTest) -> TaskId:
    return lane.submit()[0]


def test_each_event_of_the_task_is_news_and_those_of_others_are_none(
    hub: EventHub, lane: LaneUnderTest, task: TaskId
) -> None:
    news = TaskWatch(hub).news(lane.workspace, task, wait_s=LONG_S)
    assert next(news)  # what was before

    lane.submit("of another task")
    grant = lane.granted()
    assert next(news)  # it runs
    lane.finish(grant)
    assert next(news)  # it has ended
    lane.finish(lane.granted())
    hub.close()

    assert list(news) == [True]


def test_when_the_time_is_up_the_record_is_worth_a_last_look(
    hub: EventHub, lane: LaneUnderTest, task: TaskId
) -> None:
    assert list(TaskWatch(hub).news(lane.workspace, task, wait_s=0)) == [True, True]


def test_nobody_waits_on_a_server_that_stops(hub: EventHub, lane: LaneUnderTest, task: TaskId) -> None:
    news = TaskWatch(hub).news(lane.workspace, task, wait_s=LONG_S)
    assert next(news)

    hub.close()

    assert list(news) == [True]
    assert list(TaskWatch(hub).news(lane.workspace, task, wait_s=LONG_S)) == [True, True]


def test_a_client_that_left_is_not_waited_for(hub: EventHub, lane: LaneUnderTest, task: TaskId) -> None:
    ours, theirs = socket.socketpair()
    with ours:
        theirs.close()

        assert list(TaskWatch(hub).news(lane.workspace, task, wait_s=LONG_S, client=ours)) == [True, True]


def test_only_so_many_wait_at_once_and_places_are_taken_before_anything_is_looked_up(hub: EventHub) -> None:
    watch = TaskWatch(hub, most=1)

    with watch.place() as first, watch.place() as second:
        assert (first, second) == (True, False)

    with watch.place() as third:
        assert third
