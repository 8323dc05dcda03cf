import json

import pytest

from core.settings import Settings
from events.connect import connect
from events.errors import StorageFull, StorageUnavailable
from jobs.broker import ACTOR, QUEUE, Doorbell, open_broker
from jobs.client import JobsClient, open_jobs
from jobs.tasks import Submission
from jobs.viewer import Viewer
from memlane.embedded import EmbeddedRedis
from tests.support.lane import LaneUnderTest, fresh_workspace_id, limits
from tests.support.redis_server import kill_redis

FACT = Submission("remember", {"content": "a fact"}, context_mode="clean", scope="user", client_id="client_a")


@pytest.fixture
def settings(own_redis: EmbeddedRedis) -> Settings:
    return Settings(redis_url=own_redis.state_url, broker_url=own_redis.broker_url)


@pytest.fixture
def jobs(settings: Settings) -> JobsClient:
    return open_jobs(settings)


def test_a_submitted_task_is_queued_and_its_lane_rung_by_actor_name(settings: Settings, jobs: JobsClient):
    workspace = fresh_workspace_id()

    task = jobs.submit(workspace, FACT)

    found = jobs.find(workspace, "remember", task.id, viewer=Viewer("client_a"))
    assert found == task
    assert (task.status, task.position, task.context_mode, task.scope) == ("queued", 1, "clean", "user")
    messages = connect(settings.broker).hvals(f"dramatiq:{QUEUE}.msgs")
    assert [(json.loads(text)["actor_name"], json.loads(text)["args"][0]) for text in messages] == [
        (ACTOR, workspace)
    ]


def test_a_second_task_of_a_waiting_lane_rings_no_second_time(settings: Settings, jobs: JobsClient):
    workspace = fresh_workspace_id()
    jobs.submit(workspace, FACT)
    jobs.submit(workspace, FACT)

    assert Doorbell(open_broker(settings), connect(settings.state)).waiting() == 1


@pytest.mark.parametrize("client_id", ["client_b", None])
def test_a_task_of_a_client_is_hidden_from_others(jobs: JobsClient, client_id: str | None):
    workspace = fresh_workspace_id()
    task = jobs.submit(workspace, FACT)

    assert jobs.find(workspace, "remember", task.id, viewer=Viewer(client_id)) is None


def test_a_task_of_nobody_is_visible_to_all(jobs: JobsClient):
    workspace = fresh_workspace_id()
    task = jobs.submit(workspace, Submission("remember", {"content": "x"}))

    assert jobs.find(workspace, "remember", task.id, viewer=Viewer("client_b")) is not None


def test_a_task_is_found_in_its_own_workspace_and_kind_only(jobs: JobsClient):
    workspace = fresh_workspace_id()
    task = jobs.submit(workspace, Submission("remember", {"content": "x"}))

    assert jobs.find(fresh_workspace_id(), "remember", task.id, viewer=Viewer()) is None
    assert jobs.find(workspace, "forget", task.id, viewer=Viewer()) is None


def test_a_lost_ring_does_not_lose_the_task(own_redis: EmbeddedRedis):
    client = connect(own_redis.state_url)
    nobody = Doorbell(open_broker(Settings(redis_url="redis://127.0.0.1:1/0")), client)
    jobs = JobsClient(client, nobody, limits())
    lane = LaneUnderTest(client)

    task = jobs.submit(lane.workspace, FACT)

    client.zadd(lane.keys.partition.due, {lane.workspace: 1})
    assert len(lane.sweep()) == 1
    assert lane.granted().task.id == task.id


def test_without_redis_nothing_is_accepted(own_redis: EmbeddedRedis, jobs: JobsClient):
    workspace = fresh_workspace_id()
    kill_redis(own_redis)

    with pytest.raises(StorageUnavailable):
        jobs.submit(workspace, FACT)
    assert not jobs.ready().storage

    own_redis.start()
    assert jobs.submit(workspace, FACT).position == 1


def test_a_full_redis_accepts_nothing_but_lets_running_tasks_end(own_redis: EmbeddedRedis, jobs: JobsClient):
    client = connect(own_redis.state_url)
    lane = LaneUnderTest(client)
    lane.submit()
    grant = lane.granted()
    client.config_set("maxmemory", 1)

    with pytest.raises(StorageFull):
        jobs.submit(lane.workspace, FACT)

    assert lane.finish(grant).answer == "ok"


def test_readiness_names_what_is_wrong_with_persistence(own_redis: EmbeddedRedis, jobs: JobsClient):
    assert jobs.ready().persistence is None

    client = connect(own_redis.state_url)
    client.config_set("maxmemory-policy", "allkeys-lru")
    assert "noeviction" in (jobs.ready().persistence or "")
    client.config_set("appendonly", "no")
    assert "appendonly" in (jobs.ready().persistence or "")


def test_what_was_acknowledged_survives_a_kill_of_redis(own_redis: EmbeddedRedis, jobs: JobsClient):
    workspace = fresh_workspace_id()
    accepted = [jobs.submit(workspace, FACT).id for _ in range(10)]

    kill_redis(own_redis)
    own_redis.start()

    found = [jobs.find(workspace, "remember", task, viewer=Viewer("client_a")) for task in accepted]
    assert [task.position for task in found if task] == list(range(1, 11))
