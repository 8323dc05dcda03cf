"""Tasks that do once more what an ended one did."""

import json
from dataclasses import replace

import pytest

from core.settings import Settings
from events.connect import connect
from jobs.client import JobsClient, Submitted, open_jobs
from jobs.errors import IdempotencyMismatch, InputGone, TaskNotFinished
from jobs.retries import retry_task
from jobs.tasks import End, Submission, Task
from jobs.viewer import Viewer
from memlane.embedded import EmbeddedRedis
from tests.support.lane import LaneUnderTest

FACT = Submission(
    "remember",
    {"content": "a fact"},
    context_mode="clean",
    scope="user",
    client_id="client_a",
    request_id="r-1",
)
FAILED = End("failed", code="model_unavailable", message="The language model did not answer.")


@pytest.fixture
def lane(redis_url: str) -> LaneUnderTest:
    return LaneUnderTest(connect(redis_url))


@pytest.fixture
def jobs(redis_server: EmbeddedRedis) -> JobsClient:
    return open_jobs(Settings(redis_url=redis_server.state_url, broker_url=redis_server.broker_url))


@pytest.fixture
def failed(jobs: JobsClient, lane: LaneUnderTest) -> Task:
    task = jobs.submit(lane.workspace, FACT)
    lane.finish(lane.granted(), FAILED)
    return found(jobs, task)


def found(jobs: JobsClient, task: Task) -> Task:
    again = jobs.find(task.workspace, task.kind, task.id, viewer=Viewer(task.client_id))
    assert again is not None
    return again


def retry(jobs: JobsClient, task: Task, *, key: str | None = None) -> Submitted:
    asked = Submission(task.kind, {}, request_id="r-2", idempotency_keys=(key,) if key else ())
    return retry_task(jobs, task.workspace, task, asked=asked)


def test_a_retry_is_a_new_task_that_gets_the_same_request(
    jobs: JobsClient, lane: LaneUnderTest, failed: Task
):
    task = retry(jobs, failed).task

    assert (task.status, task.retry_of, task.request_id) == ("queued", failed.id, "r-2")
    assert (task.context_mode, task.scope, task.client_id) == ("clean", "user", "client_a")
    assert found(jobs, task) == task
    assert found(jobs, failed) == failed
    assert lane.granted().input == {"content": "a fact"}


def test_a_task_that_has_not_ended_is_not_retried(jobs: JobsClient, lane: LaneUnderTest):
    task = jobs.submit(lane.workspace, FACT)

    with pytest.raises(TaskNotFinished):
        retry(jobs, task)

    assert lane.redis.zcard(lane.keys.index) == 1


def test_a_request_that_is_not_kept_any_more_is_not_made_up(
    jobs: JobsClient, lane: LaneUnderTest, failed: Task
):
    lane.redis.delete(lane.keys.input(failed.id))

    with pytest.raises(InputGone):
        retry(jobs, failed)

    assert lane.redis.zcard(lane.keys.index) == 1
    assert lane.redis.llen(lane.keys.pending) == 0


def test_the_request_of_a_retry_outlives_that_of_the_task_it_repeats(
    jobs: JobsClient, lane: LaneUnderTest, failed: Task
):
    task = retry(jobs, failed).task

    lane.redis.delete(lane.keys.input(failed.id))
    assert lane.redis.pttl(lane.keys.input(task.id)) == -1
    assert json.loads(lane.redis.get(lane.keys.input(task.id))) == {"content": "a fact"}


def test_an_idempotency_key_gives_the_same_retry_even_when_the_request_is_gone(
    jobs: JobsClient, lane: LaneUnderTest, failed: Task
):
    first = retry(jobs, failed, key="mine").task
    lane.redis.delete(lane.keys.input(failed.id))

    again = retry(jobs, failed, key="mine")

    assert (again.task.id, again.made_by) == (first.id, "mine")


def test_a_retry_is_another_request_than_the_one_it_repeats(jobs: JobsClient, lane: LaneUnderTest):
    first = jobs.submit(lane.workspace, replace(FACT, idempotency_keys=("mine",)))
    lane.finish(lane.granted(), FAILED)

    with pytest.raises(IdempotencyMismatch):
        retry(jobs, found(jobs, first), key="mine")
