"""The relay in this process, on real subscriptions: slow readers, storage that goes away."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.settings import Settings
from core.workspaces import Workspaces
from events.hub import EventHub, open_hub
from events.subscription import Subscription
from jobs.client import JobsClient, open_jobs
from jobs.tasks import Submission
from memlane.embedded import EmbeddedRedis
from tests.support.lane_driver import LaneDriver
from web.relay import Relay

HEARTBEAT_S = 5.0


@pytest.fixture
def workspace(tmp_path: Path) -> Workspaces:
    return Workspaces([str(tmp_path)])


def frames_of(relay: Relay, hub: EventHub, workspace: Workspaces, *, after: int | None) -> Iterator[bytes]:
    response = relay.respond(hub.open(workspace.primary.id, after=after, epoch=None), None)
    return iter(response.iter_encoded())


def submit(jobs: JobsClient, workspace: Workspaces) -> str:
    return jobs.submit(workspace.primary.id, Submission(kind="remember", input={"content": "x"})).id


def read_up_to(reader: Subscription, kind: str) -> None:
    while (envelope := reader.next(HEARTBEAT_S)) is None or envelope.type != kind:
        assert envelope is not None, f"no {kind}"


def test_a_reader_that_falls_too_far_behind_is_sent_away(redis_url: str, workspace: Workspaces) -> None:
    jobs, lane = open_jobs(Settings(redis_url=redis_url)), LaneDriver(redis_url, workspace.primary.id)
    hub = open_hub(redis_url, [workspace.primary.id])
    frames = frames_of(Relay(hub, heartbeat_s=HEARTBEAT_S), hub, workspace, after=None)
    assert next(frames) == b"retry: 3000\n\n"

    with hub.open(workspace.primary.id, after=None, epoch=None) as quick_reader:
        for _ in range(100):  # three events each
            lane.complete(submit(jobs, workspace))
            read_up_to(quick_reader, "task_completed")
    rest = list(frames)

    assert rest[-1].startswith(b"event: client_evicted\n")
    hub.close()


def test_a_replay_goes_on_when_storage_is_back(own_redis: EmbeddedRedis, workspace: Workspaces) -> None:
    jobs = open_jobs(Settings(redis_url=own_redis.state_url))
    task_id = submit(jobs, workspace)
    hub = open_hub(own_redis.state_url, [workspace.primary.id])
    frames = frames_of(Relay(hub, heartbeat_s=HEARTBEAT_S), hub, workspace, after=0)
    assert next(frames) == b"retry: 3000\n\n"

    own_redis.stop()
    assert next(frames) == b": heartbeat\n\n"
    own_redis.start()

    assert task_id.encode() in next(frames)
    hub.close()


def test_a_relay_that_ended_opens_no_more_streams(redis_url: str, workspace: Workspaces) -> None:
    hub = open_hub(redis_url, [workspace.primary.id])
    relay = Relay(hub)
    relay.end_all()

    frames = frames_of(relay, hub, workspace, after=None)

    assert list(frames) == [b"retry: 3000\n\n"]
