import pytest

from core import keys
from core.ids import WorkspaceId, new_uuid
from core.keys import LaneKeys
from events.connect import connect
from jobs.presence import Presence
from jobs.registry import WorkerRegistry
from memlane.embedded import EmbeddedRedis
from tests.support.lane import fresh_workspace_id
from tests.support.redis_server import kill_redis
from tests.support.waiting import until


@pytest.fixture
def registry(own_redis: EmbeddedRedis) -> WorkerRegistry:
    return WorkerRegistry(connect(own_redis.state_url))


WORKSPACE = fresh_workspace_id()


def test_without_any_word_a_workspace_counts_as_available(registry: WorkerRegistry):
    assert registry.is_available(WORKSPACE)
    assert registry.live_ids() == set()


def test_only_if_every_live_worker_says_no_it_is_unavailable(registry: WorkerRegistry):
    registry.announce("a", {"host": "h"}, {WORKSPACE: False})
    assert not registry.is_available(WORKSPACE)

    registry.announce("b", {"host": "h"}, {})  # lives and has not said no
    assert registry.is_available(WORKSPACE)

    registry.announce("b", {"host": "h"}, {WORKSPACE: False})
    assert not registry.is_available(WORKSPACE)
    assert registry.is_available(fresh_workspace_id())
    assert registry.live_ids() == {"a", "b"}


def test_a_worker_that_fell_silent_has_no_say(own_redis: EmbeddedRedis, registry: WorkerRegistry):
    registry.announce("a", {}, {WORKSPACE: False})
    connect(own_redis.state_url).zadd(keys.WORKERS, {"a": 1})

    assert registry.is_available(WORKSPACE)
    assert registry.live_ids() == set()


def test_an_answer_that_ran_out_is_no_answer(own_redis: EmbeddedRedis, registry: WorkerRegistry):
    registry.announce("a", {}, {})
    connect(own_redis.state_url).hset(LaneKeys(WORKSPACE).availability, "a", "no:1")

    assert registry.is_available(WORKSPACE)


def test_a_retired_worker_is_gone(own_redis: EmbeddedRedis, registry: WorkerRegistry):
    registry.announce("a", {"host": "h"}, {})
    registry.retire("a")

    assert registry.live_ids() == set()
    assert not connect(own_redis.state_url).exists(keys.worker("a"))


def test_a_cured_workspace_is_asked_and_announced_again(own_redis: EmbeddedRedis, registry: WorkerRegistry):
    asked: list[WorkspaceId] = []

    def ask(workspace: WorkspaceId) -> bool:
        asked.append(workspace)
        return len(asked) > 1

    presence = Presence(registry, new_uuid(), facts={"host": "h"}, ask=ask, period_s=0.01)
    presence.note(WORKSPACE, available=False)
    until(lambda: len(asked) >= 2 and registry.is_available(WORKSPACE))
    presence.close()

    assert registry.live_ids() == set()


def test_a_worker_outlives_an_outage_of_redis(own_redis: EmbeddedRedis):
    registry = WorkerRegistry(connect(own_redis.state_url))
    kill_redis(own_redis)
    presence = Presence(registry, "a", facts={"host": "h"}, ask=lambda _: True, period_s=0.01)

    own_redis.start()
    until(registry.live_ids)
    kill_redis(own_redis)
    presence.close()  # and its end, too
