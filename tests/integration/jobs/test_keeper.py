import threading
from collections.abc import Iterator

import pytest

from events.connect import connect
from jobs.keeper import Keeper
from jobs.lanes import Lanes, Lease
from memlane.embedded import EmbeddedRedis
from tests.support.lane import LaneUnderTest, limits
from tests.support.redis_server import kill_redis
from tests.support.waiting import until

WAIT_S = 10.0


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


def test_a_held_lease_is_renewed(lane: LaneUnderTest, keeper: Keeper):
    lease = held(lane)
    lane.expire_lease()

    with keeper.holding(lease, on_lost=pytest.fail):
        until(lambda: is_renewed(lane))


def is_renewed(lane: LaneUnderTest) -> bool:
    return bool(lane.redis.hget(lane.keys.lane, "expiresAtMs") != "1")


def test_a_lease_that_another_took_is_given_up_once(lane: LaneUnderTest, keeper: Keeper):
    lease = held(lane)
    lost = threading.Event()
    lane.redis.hset(lane.keys.lane, "claim", "another")

    with keeper.holding(lease, on_lost=lost.set):
        assert lost.wait(WAIT_S)


def test_a_lease_let_go_is_renewed_no_more(lane: LaneUnderTest, keeper: Keeper):
    with keeper.holding(held(lane), on_lost=pytest.fail):
        pass

    assert keeper._held == {}


def test_renewal_goes_on_after_an_outage(own_redis: EmbeddedRedis):
    client = connect(own_redis.state_url, timeout_s=1.0)
    lane = LaneUnderTest(client, Lanes(client, limits()))
    keeper = Keeper(lane.lanes, renew_ms=20)
    lease = held(lane)

    with keeper.holding(lease, on_lost=pytest.fail):
        kill_redis(own_redis)
        own_redis.start()
        lane.expire_lease()
        until(lambda: is_renewed(lane))
    keeper.close()
