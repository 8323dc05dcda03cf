import pytest

from core.ids import WorkspaceId
from core.keys import CONFIG
from events.connect import connect
from events.errors import StorageUnavailable
from jobs.deployment import DEPLOYMENT_FIELD, Deployment
from memlane.embedded import EmbeddedRedis

W = WorkspaceId("w1")


def test_two_databases_never_share_the_name_of_a_lane(own_redis: EmbeddedRedis, redis_url: str):
    one = Deployment(connect(own_redis.state_url), configured=None)
    other = Deployment(connect(redis_url), configured=None)

    assert one.lane_of(W) != other.lane_of(W)


def test_all_workers_of_one_database_know_a_lane_by_one_name(own_redis: EmbeddedRedis):
    lanes = {Deployment(connect(own_redis.state_url), configured=None).lane_of(W) for _ in range(3)}

    assert len(lanes) == 1
    kept = connect(own_redis.state_url).hget(CONFIG, DEPLOYMENT_FIELD)
    assert lanes == {f"{kept!s}/{W}"}


def test_a_name_that_somebody_chose_needs_no_database():
    assert Deployment(connect("redis://127.0.0.1:1/0"), configured="mine").lane_of(W) == f"mine/{W}"


def test_a_name_that_can_not_be_looked_up_is_never_made_up():
    with pytest.raises(StorageUnavailable):
        Deployment(connect("redis://127.0.0.1:1/0", retries=0), configured=None).lane_of(W)


def test_a_database_that_is_out_of_memory_still_tells_its_name(own_redis: EmbeddedRedis):
    client = connect(own_redis.state_url)
    lane = Deployment(client, configured=None).lane_of(W)
    client.config_set("maxmemory", 1)

    assert Deployment(client, configured=None).lane_of(W) == lane
