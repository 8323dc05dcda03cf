"""Lanes and workers as operators see them."""

import pytest

from core.ids import WorkspaceId, new_uuid
from core.settings import Settings
from events.connect import connect
from jobs.board import Board, LaneView, RunningTask
from jobs.broker import Doorbell, open_broker
from jobs.broker_probe import BrokerProbe
from jobs.registry import WorkerRegistry
from memlane.embedded import EmbeddedRedis
from tests.support.lane import LaneUnderTest


@pytest.fixture
def settings(redis_url: str, broker_url: str) -> Settings:
    return Settings(redis_url=redis_url, broker_url=broker_url)


@pytest.fixture
def board(lane: LaneUnderTest, settings: Settings) -> Board:
    return Board(lane.redis, lane.upkeep, Doorbell(open_broker(settings), lane.redis))


def test_a_lane_that_never_was_is_empty(board: Board):
    unknown = WorkspaceId(new_uuid()[:16])

    assert board.lanes([unknown]) == [
        LaneView(unknown, depth=0, oldest_age_ms=None, running=None, lease=None, is_held=False)
    ]


def test_a_lane_shows_what_runs_who_runs_it_and_what_waits(board: Board, lane: LaneUnderTest):
    running, _ = lane.submit()
    lane.submit()
    lane.submit()
    lane.granted(claim="worker-1:claim")

    (view,) = board.lanes([lane.workspace])

    assert view.running == RunningTask(running, "remember", 1)
    assert view.depth == 2
    assert view.oldest_age_ms is not None
    assert view.oldest_age_ms >= 0
    assert view.lease is not None
    assert view.lease.owner == "worker-1"
    assert view.lease.expires_ms > view.lease.since_ms


def test_lanes_come_in_the_order_asked_for(board: Board, lane: LaneUnderTest):
    lane.submit()
    other = WorkspaceId(new_uuid()[:16])

    assert [(one.workspace, one.depth) for one in board.lanes([other, lane.workspace])] == [
        (other, 0),
        (lane.workspace, 1),
    ]
    assert board.lanes([]) == []


def test_a_lane_is_held_and_let_go_which_rings_at_once(own_redis: EmbeddedRedis):
    settings = Settings(redis_url=own_redis.state_url, broker_url=own_redis.broker_url)
    lane, broker = LaneUnderTest(connect(settings.state)), open_broker(settings)
    board = Board(lane.redis, lane.upkeep, Doorbell(broker, lane.redis))
    lane.submit()

    assert board.hold(lane.workspace).is_held
    assert board.hold(lane.workspace).is_held
    assert BrokerProbe(broker).oldest_stamp_ms() == 0
    assert not board.unhold(lane.workspace).is_held
    assert BrokerProbe(broker).oldest_stamp_ms() != 0


def test_letting_an_empty_lane_go_rings_for_nothing(board: Board, lane: LaneUnderTest):
    assert not board.unhold(lane.workspace).is_held


def test_workers_are_shown_while_they_live(own_redis: EmbeddedRedis):
    settings = Settings(redis_url=own_redis.state_url, broker_url=own_redis.broker_url)
    lane = LaneUnderTest(connect(settings.state))
    board = Board(lane.redis, lane.upkeep, Doorbell(open_broker(settings), lane.redis))
    registry = WorkerRegistry(lane.redis)
    facts = {"host": "h", "pid": "7", "threads": "8", "model": "offline", "deployment": ""}
    registry.announce("b", facts, {})
    registry.announce("a", facts, {})

    both = board.workers()
    registry.retire("a")

    assert [(one.id, one.host, one.pid, one.threads, one.model) for one in both] == [
        ("a", "h", 7, 8, "offline"),
        ("b", "h", 7, 8, "offline"),
    ]
    assert [one.id for one in board.workers()] == ["b"]


def test_counters_are_added_up_over_all_lanes(own_redis: EmbeddedRedis):
    settings = Settings(redis_url=own_redis.state_url, broker_url=own_redis.broker_url)
    redis = connect(settings.state)
    first, second = LaneUnderTest(redis), LaneUnderTest(redis)
    board = Board(redis, first.upkeep, Doorbell(open_broker(settings), redis))
    first.submit()
    second.submit()
    WorkerRegistry(redis).note_load(waiting=2, oldest_wait_ms=5)

    load = board.load()

    assert load.counters == {"accepted:remember": 2}
    assert (load.waiting, load.oldest_wait_ms) == (2, 5)
