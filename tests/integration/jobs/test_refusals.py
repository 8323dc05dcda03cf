"""A server that refuses to write is told as unavailable by every call, so that its callers try again."""

import pytest

from core.ids import ClaimId
from events.connect import connect
from events.errors import StorageUnavailable
from jobs.lanes import Lease
from memlane.embedded import EmbeddedRedis
from tests.support.lane import DONE, LaneUnderTest


@pytest.fixture
def lane(own_redis: EmbeddedRedis) -> LaneUnderTest:
    lane = LaneUnderTest(connect(own_redis.state_url))
    lane.submit()
    return lane


def test_a_primary_without_its_replicas_is_unavailable_to_single_calls_and_pipelines(lane: LaneUnderTest):
    grant = lane.granted()
    lane.redis.config_set("min-replicas-to-write", 1)

    with pytest.raises(StorageUnavailable):
        lane.finish(grant)
    with pytest.raises(StorageUnavailable):
        lane.lanes.finish_and_claim(lane.workspace, grant, DONE, claim=ClaimId("c"), store_id="s")
    with pytest.raises(StorageUnavailable):
        lane.lanes.renew([Lease(lane.workspace, grant.claim, grant.fence)])
    with pytest.raises(StorageUnavailable):
        lane.upkeep.sweep()

    lane.redis.config_set("min-replicas-to-write", 0)
    assert lane.finish(grant).answer == "ok"
