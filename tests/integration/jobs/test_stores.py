from pathlib import Path

import pytest

from core.settings import Settings
from core.workspaces import Workspaces
from events.connect import connect
from events.errors import StorageUnavailable
from jobs.stores import adopt_store, registered_stores
from memlane.embedded import EmbeddedRedis
from tests.support.lane import LaneUnderTest


@pytest.fixture
def workspaces(tmp_path: Path) -> Workspaces:
    return Workspaces([str(tmp_path)])


@pytest.fixture
def lane(own_redis: EmbeddedRedis, workspaces: Workspaces) -> LaneUnderTest:
    return LaneUnderTest(connect(own_redis.state_url), workspace=workspaces.primary.id)


@pytest.fixture
def settings(own_redis: EmbeddedRedis) -> Settings:
    return Settings(redis_url=own_redis.state_url)


def test_a_lane_that_never_ran_belongs_to_nobody(settings: Settings, workspaces: Workspaces):
    adopt_store(settings, workspaces, "mine")

    assert registered_stores(settings, workspaces) == {}


def test_a_lane_belongs_to_the_first_store_that_ran_a_task_of_it(
    settings: Settings, workspaces: Workspaces, lane: LaneUnderTest
):
    lane.submit()
    lane.finish(lane.granted(store_id="theirs"))

    assert registered_stores(settings, workspaces) == {workspaces.primary.path: "theirs"}


def test_a_lane_can_be_moved_to_another_store(
    settings: Settings, workspaces: Workspaces, lane: LaneUnderTest
):
    lane.submit()
    lane.finish(lane.granted(store_id="theirs"))
    task, _ = lane.submit()

    adopt_store(settings, workspaces, "mine")

    assert registered_stores(settings, workspaces) == {workspaces.primary.path: "mine"}
    assert lane.granted(store_id="mine").task.id == task


def test_a_redis_that_is_away_does_not_pass_for_one_that_knows_no_store(workspaces: Workspaces):
    with pytest.raises(StorageUnavailable):
        registered_stores(Settings(redis_url="redis://127.0.0.1:1/0"), workspaces)
