import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from events.connect import connect
from jobs.keeper import Keeper, Reactions
from jobs.lanes import Lease
from memlane.embedded import EmbeddedRedis
from tests.support.lane import LaneUnderTest
from tests.support.redis_server import kill_redis
from tests.support.waiting import until

WAIT_S = 10.0


@dataclass
class Heard:
    """What a holder was told."""

    lost: threading.Event = field(default_factory=threading.Event)
    cancel: threading.Event = field(default_factory=threading.Event)
    kept: threading.Event = field(default_factory=threading.Event)

    @property
    def reactions(self) -> Reactions:
        return Reactions(lost=self._lose, cancel=self.cancel.set, kept=self.kept.set)

    def _lose(self) -> bool:
        self.lost.set()
        return True


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def keeper(lane: LaneUnderTest) -> Iterator[Keeper]:
    keeper = Keeper(lane.lanes, renew_ms=20)
    yield keeper
    keeper.close()
    assert not keeper.is_alive()


def held(lane: LaneUnderTest) -> Lease:
    lane.submit()
    grant = lane.granted()
    return Lease(lane.workspace, grant.claim, grant.fence)


def is_renewed(lane: LaneUnderTest) -> bool:
    return bool(lane.redis.hget(lane.keys.lane, "expiresAtMs") != "1")


def test_a_held_lease_is_renewed(lane: LaneUnderTest, keeper: Keeper, heard: Heard):
    lease = held(lane)
    lane.expire_lease()

    with keeper.holding(lease, heard.reactions):
        until(lambda: is_renewed(lane))
        assert heard.kept.wait(WAIT_S)

    assert not heard.lost.is_set()
    assert not heard.cancel.is_set()


def test_a_lease_that_another_took_is_given_up(lane: LaneUnderTest, keeper: Keeper, heard: Heard):
    lease = held(lane)
    lane.redis.hset(lane.keys.lane, "claim", "another")

    with keeper.holding(lease, heard.reactions):
        assert heard.lost.wait(WAIT_S)


def test_a_cancel_is_heard_with_the_next_renewal(lane: LaneUnderTest, keeper: Keeper, heard: Heard):
    task, _ = lane.submit()
    grant = lane.granted()
    lane.cancel(task)

    with keeper.holding(Lease(lane.workspace, grant.claim, grant.fence), heard.reactions):
        assert heard.cancel.wait(WAIT_S)
        assert heard.kept.is_set()


def test_a_lease_let_go_is_renewed_no_more(lane: LaneUnderTest, keeper: Keeper, heard: Heard):
    other = LaneUnderTest(lane.redis)
    with keeper.holding(held(lane), heard.reactions):
        assert heard.kept.wait(WAIT_S)
    lane.expire_lease()
    later = Heard()

    with keeper.holding(held(other), later.reactions):
        assert later.kept.wait(WAIT_S)

    assert not is_renewed(lane)


def test_a_lease_goes_on_under_the_fence_it_was_given(lane: LaneUnderTest, keeper: Keeper, heard: Heard):
    lease = held(lane)
    with keeper.holding(lease, heard.reactions) as hold:
        fence = lane.lanes.refence(hold.lease, at_least=lease.fence + 10**6)
        assert fence is not None
        hold.take_fence(fence)
        heard.kept.clear()
        lane.expire_lease()

        until(lambda: is_renewed(lane))

    assert not heard.lost.is_set()


def test_renewal_goes_on_after_an_outage(own_redis: EmbeddedRedis, heard: Heard):
    lane = LaneUnderTest(connect(own_redis.state_url, timeout_s=1.0))
    keeper = Keeper(lane.lanes, renew_ms=20)
    lease = held(lane)

    with keeper.holding(lease, heard.reactions):
        kill_redis(own_redis)
        own_redis.start()
        lane.expire_lease()
        until(lambda: is_renewed(lane))
    keeper.close()

    assert not heard.lost.is_set()
