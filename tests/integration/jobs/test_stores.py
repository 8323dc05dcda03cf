from pathlib import Path

import pytest

from core.settings import Settings
from core.workspaces import Workspaces
from events.connect import connect
from jobs.stores import StoreMismatch, require_own_stores
from memlane.embedded import EmbeddedRedis
from tests.support.lane import LaneUnderTest


@pytest.fixture
def workspaces(tmp_path: Path) -> Workspaces:
    return Workspaces([str(tmp_path)])


@pytest.fixture
def lane(own_redis: EmbeddedRedis, workspaces: Workspaces) -> LaneUnderTest:
    return LaneUnderTest(connect(own_redis.state_url), workspace=workspaces.primary.id)


def test_a_lane_that_never_ran_belongs_to_nobody(own_redis: EmbeddedRedis, workspaces: Workspaces):
    require_own_stores(Settings(redis_url=own_redis.state_url), workspaces, "mine")


def test_a_memory_folder_that_is_not_the_lanes_own_is_refused(
    own_redis: EmbeddedRedis, workspaces: Workspaces, lane: LaneUnderTest
):
    lane.submit()
    lane.finish(lane.granted(store_id="theirs"))

    require_own_stores(Settings(redis_url=own_redis.state_url), workspaces, "theirs")
    with pytest.raises(StoreMismatch, match=workspaces.primary.path):
        require_own_stores(Settings(redis_url=own_redis.state_url), workspaces, "mine")


def test_a_memory_folder_can_be_adopted(
    own_redis: EmbeddedRedis, workspaces: Workspaces, lane: LaneUnderTest
):
    lane.submit()
    lane.finish(lane.granted(store_id="theirs"))
    task, _ = lane.submit()

    require_own_stores(Settings(redis_url=own_redis.state_url, adopt_store=True), workspaces, "mine")

    assert lane.granted(store_id="mine").task.id == task


def test_a_redis_that_is_away_is_not_asked(workspaces: Workspaces):
    require_own_stores(Settings(redis_url="redis://127.0.0.1:1/0"), workspaces, "mine")
