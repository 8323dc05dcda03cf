from dataclasses import replace

from core.ids import TaskId, WorkspaceId
from jobs.tasks import Task
from web.task_view import describe, describe_accepted

QUEUED = Task(
    id=TaskId("remember-1"),
    workspace=WorkspaceId("0123456789abcdef"),
    kind="remember",
    status="queued",
    created_ms=1_000,
    updated_ms=2_345,
    context_mode="clean",
    position=3,
)
BASICS = {
    "taskId": "remember-1",
    "status": "queued",
    "createdAt": "1970-01-01T00:00:01.000Z",
    "updatedAt": "1970-01-01T00:00:02.345Z",
    "contextMode": "clean",
    "workspaceId": "0123456789abcdef",
    "attempt": 0,
    "position": 3,
}


def test_an_accepted_task_has_neither_result_nor_error() -> None:
    assert describe_accepted(QUEUED) == BASICS


def test_progress_is_shown_while_the_task_runs_and_once_there_is_some() -> None:
    progress = {"turn": 2, "maxTurns": 6, "filesTouched": 0}
    running = replace(QUEUED, status="running", position=None, progress=progress)

    assert describe(running, home="/home/u")["progress"] == progress
    assert "progress" not in describe(replace(running, progress=None), home="/home/u")
    assert "progress" not in describe(replace(running, status="queued"), home="/home/u")
    assert "progress" not in describe(replace(running, status="completed", result={}), home="/home/u")


def test_an_unfinished_task_has_null_for_both() -> None:
    assert describe(QUEUED, home="/home/u") == {**BASICS, "result": None, "error": None}


def test_the_scope_appears_when_it_was_sent() -> None:
    assert describe_accepted(replace(QUEUED, scope="user"))["scope"] == "user"


def test_a_completed_task_has_a_result_and_no_error() -> None:
    result = {"summary": "Done.", "filesTouched": ["/home/u/.qwen/a.md", "/home/user/b.md", "/srv/c.md"]}
    task = replace(
        QUEUED,
        status="completed",
        position=None,
        attempt=1,
        started_ms=2_000,
        finished_ms=2_345,
        result=result,
        revision="r7",
        usage={"modelCalls": 2},
    )

    view = describe(task, home="/home/u")

    assert view["result"]["filesTouched"] == ["~/.qwen/a.md", "/home/user/b.md", "/srv/c.md"]
    assert view["result"]["summary"] == "Done."
    assert view["outcome"] == "completed"
    assert view["startedAt"] == "1970-01-01T00:00:02.000Z"
    assert view["finishedAt"] == "1970-01-01T00:00:02.345Z"
    assert (view["revision"], view["usage"], view["attempt"]) == ("r7", {"modelCalls": 2}, 1)
    assert not {"error", "position"} & view.keys()


def test_a_result_without_paths_is_shown_as_it_is() -> None:
    view = describe(replace(QUEUED, status="completed", result={"summary": "Done."}), home="/")

    assert view["result"] == {"summary": "Done."}


def test_a_failed_task_has_an_error_and_no_result() -> None:
    task = replace(QUEUED, status="failed", error_code="worker_lost", error_message="The worker was lost.")

    view = describe(task, home="/home/u")

    assert view["error"] == {"code": "worker_lost", "message": "The worker was lost."}
    assert (view["status"], view["outcome"]) == ("failed", "failed")
    assert "result" not in view


def test_a_cancelled_task_is_failed_on_the_wire() -> None:
    task = replace(
        QUEUED, status="cancelled", error_code="task_cancelled", error_message="The task was cancelled."
    )

    view = describe(task, home="/home/u")

    assert (view["status"], view["outcome"]) == ("failed", "cancelled")
    assert view["error"] == {"code": "task_cancelled", "message": "The task was cancelled."}
    assert "result" not in view


def test_what_is_null_inside_a_result_stays() -> None:
    view = describe(replace(QUEUED, status="completed", result={"revision": None}), home="/")

    assert view["result"] == {"revision": None}
