"""From a preview to the task that applies it, whoever else asks for the same."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from core.errors import StateError
from core.ids import WorkspaceId, new_task_id
from core.settings import Settings
from jobs.client import JobsClient, Submitted, open_jobs
from jobs.errors import IdempotencyMismatch, NoPreview
from jobs.previews import apply_preview
from jobs.tasks import Submission, Task
from memlane.embedded import EmbeddedRedis
from tests.support.lane import fresh_workspace_id
from tests.support.lane_driver import LaneDriver


@pytest.fixture
def jobs(redis_server: EmbeddedRedis) -> JobsClient:
    return open_jobs(Settings(redis_url=redis_server.state_url, broker_url=redis_server.broker_url))


@pytest.fixture
def workspace() -> WorkspaceId:
    return fresh_workspace_id()


@pytest.fixture
def preview(workspace: WorkspaceId) -> Task:
    return Task(
        id=new_task_id("forget"),
        workspace=workspace,
        kind="forget",
        status="completed",
        created_ms=1,
        updated_ms=1,
        result={"summary": "", "preview": {"diff": []}},
    )


@pytest.fixture
def lane(redis_url: str, workspace: WorkspaceId) -> LaneDriver:
    return LaneDriver(redis_url, workspace)


ASKED = Submission("forget", {}, client_id="client_a", request_id="r-1")


def stale() -> None:
    raise StateError("memory has changed")


def fit() -> None:
    """Find nothing wrong with a preview."""


def apply(
    jobs: JobsClient, preview: Task, *, check: Callable[[], None] = fit, key: str | None = None
) -> Submitted:
    asked = replace(ASKED, idempotency_keys=(key,) if key else ())
    return apply_preview(jobs, preview.workspace, preview, asked=asked, check=check)


def test_one_that_somebody_else_applies_at_this_moment_gives_their_task(jobs: JobsClient, preview: Task):
    theirs: list[Task] = []

    def overtaken() -> None:
        theirs.append(apply(jobs, preview).task)
        stale()  # what they did has changed what it showed

    assert apply(jobs, preview, check=overtaken).task.id == theirs[0].id


def test_one_that_is_stale_makes_no_task(jobs: JobsClient, preview: Task):
    with pytest.raises(StateError):
        apply(jobs, preview, check=stale)

    assert apply(jobs, preview).made_by is None


def test_the_request_of_an_idempotency_key_gives_its_task_even_after_that_has_failed(
    jobs: JobsClient, preview: Task, lane: LaneDriver
):
    first = apply(jobs, preview, key="mine")
    lane.fail(first.task.id, "memory_conflict", "Memory was changed.")

    again = apply(jobs, preview, check=stale, key="mine")
    another = apply(jobs, preview, key="other")

    assert (again.task.id, again.made_by) == (first.task.id, "mine")
    assert (another.task.id != first.task.id, another.made_by) == (True, None)


def test_a_second_key_joins_the_task_that_applies_already_and_leads_to_it_from_then_on(
    jobs: JobsClient, preview: Task, lane: LaneDriver
):
    first = apply(jobs, preview).task

    joined = apply(jobs, preview, key="mine")
    lane.fail(first.id, "memory_conflict", "Memory was changed.")

    assert joined.task.id == first.id
    assert joined.made_by != "mine"
    assert apply(jobs, preview, key="mine").task.id == first.id


def test_a_key_that_applied_one_preview_applies_no_other(jobs: JobsClient, preview: Task):
    apply(jobs, preview, key="mine")

    with pytest.raises(IdempotencyMismatch):
        apply(jobs, replace(preview, id=new_task_id("forget")), key="mine")


def test_what_was_accepted_is_told_again_though_the_preview_was_purged_since(jobs: JobsClient, preview: Task):
    first = apply(jobs, preview, key="mine").task
    purged = replace(preview, result={"summary": "", "purged": True})

    assert apply(jobs, purged, key="mine").task.id == first.id
    with pytest.raises(NoPreview):
        apply(jobs, replace(purged, id=new_task_id("forget")), key="new")
