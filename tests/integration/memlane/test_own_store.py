"""Which memory store a start takes: the lanes' own, and never a new one in an empty mount point."""

from pathlib import Path

import pytest

from core.settings import Settings
from core.workspaces import Workspaces
from events.connect import connect
from events.errors import StorageUnavailable
from jobs.stores import StoreMismatch
from memlane.embedded import EmbeddedRedis
from memlane.own_store import open_own_store
from memory.errors import StoreUnusable
from memory.store import open_store
from tests.support.lane import LaneUnderTest


@pytest.fixture
def workspaces(tmp_path: Path) -> Workspaces:
    (tmp_path / "workspace").mkdir()
    return Workspaces([str(tmp_path / "workspace")])


@pytest.fixture
def settings(own_redis: EmbeddedRedis, tmp_path: Path) -> Settings:
    (tmp_path / "memory").mkdir()
    return Settings(redis_url=own_redis.state_url, memory_dir=tmp_path / "memory")


def ran_on(settings: Settings, workspaces: Workspaces, store_id: str) -> None:
    lane = LaneUnderTest(connect(settings.state), workspace=workspaces.primary.id)
    lane.submit()
    lane.finish(lane.granted(store_id=store_id))


def test_the_first_start_makes_a_store_and_later_ones_find_it(settings: Settings, workspaces: Workspaces):
    store_id = open_own_store(settings, workspaces).store_id
    ran_on(settings, workspaces, store_id)

    assert open_own_store(settings, workspaces).store_id == store_id


def test_nothing_is_made_in_the_empty_place_of_a_volume(settings: Settings, workspaces: Workspaces):
    ran_on(settings, workspaces, "theirs")

    with pytest.raises(StoreMismatch, match=workspaces.primary.path):
        open_own_store(settings, workspaces)

    assert list(settings.memory_base.iterdir()) == []


def test_nothing_is_made_while_redis_can_not_tell_whose_store_it_is(
    settings: Settings, workspaces: Workspaces
):
    away = settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})

    with pytest.raises(StorageUnavailable):
        open_own_store(away, workspaces)

    assert list(settings.memory_base.iterdir()) == []


def test_another_store_is_refused_and_can_be_adopted(settings: Settings, workspaces: Workspaces):
    mine = open_store(settings.memory_base).store_id
    ran_on(settings, workspaces, "theirs")
    with pytest.raises(StoreMismatch, match="--adopt-memory"):
        open_own_store(settings, workspaces)

    adopting = settings.model_copy(update={"adopt_store": True})

    assert open_own_store(adopting, workspaces).store_id == mine
    assert open_own_store(settings, workspaces).store_id == mine


def test_a_configured_store_that_is_not_there_is_never_made(settings: Settings, workspaces: Workspaces):
    with pytest.raises(StoreUnusable, match="missing"):
        open_own_store(settings.model_copy(update={"store_id": "configured"}), workspaces)

    assert list(settings.memory_base.iterdir()) == []
