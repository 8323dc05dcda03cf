"""From a preview to the task that applies it, whoever else asks for the same."""

import pytest

from core.errors import StateError
from core.ids import TaskId
from core.settings import Settings
from jobs.client import JobsClient, open_jobs
from jobs.previews import apply_preview
from jobs.tasks import Task
from memlane.embedded import EmbeddedRedis
from tests.support.lane import fresh_workspace_id

WORKSPACE = fresh_workspace_id()


@pytest.fixture
def jobs(redis_server: EmbeddedRedis) -> JobsClient:
    return open_jobs(Settings(redis_url=redis_server.state_url, broker_url=redis_server.broker_url))


@pytest.fixture
def preview(jobs: JobsClient) -> Task:
    return Task(
        id=TaskId("forget-3f0c1f6e-3f3c-4c39-8f0e-0d6f3a0a5a11"),
        workspace=WORKSPACE,
        kind="forget",
        status="completed",
        created_ms=1,
        updated_ms=1,
        result={"summary": "", "preview": {"diff": []}},
    )


def stale() -> None:
    raise StateError("memory has changed")


def test_one_that_somebody_else_applies_at_this_moment_gives_their_task(jobs: JobsClient, preview: Task):
    theirs: list[Task] = []

    def overtaken() -> None:
        theirs.append(apply_preview(jobs, WORKSPACE, preview, check=lambda: None))
        stale()  # what they did has changed what it showed

    assert apply_preview(jobs, WORKSPACE, preview, check=overtaken).id == theirs[0].id


def test_one_that_is_stale_makes_no_task(jobs: JobsClient, preview: Task):
    with pytest.raises(StateError):
        apply_preview(jobs, fresh_workspace_id(), preview, check=stale)
