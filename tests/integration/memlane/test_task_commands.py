"""`memlane tasks` and `memlane retry`."""

import json
import re

import pytest

from tests.support.command_line import DONE, QUEUED, run
from tests.support.scripted_service import Reply, scripted_service

FAILED = QUEUED | {
    "status": "failed",
    "outcome": "cancelled",
    "position": None,
    "error": {"code": "task_cancelled", "message": "The task was cancelled."},
}


@pytest.fixture(autouse=True)
def token(monkeypatch):
    monkeypatch.setenv("MEMLANE_TOKEN", "secret")


def test_tasks_are_listed_with_what_became_of_them(capsys):
    page = {"tasks": [QUEUED, FAILED, DONE | {"outcome": "completed"}], "nextCursor": "x"}
    with scripted_service([Reply(200, page)]) as service:
        assert run("tasks", "--url", service.url) == 0

    waiting, cancelled, done = capsys.readouterr().out.splitlines()
    when = r"\d{4}-\d\d-\d\d \d\d:\d\d"
    assert re.fullmatch(rf"{QUEUED['taskId']}  {when}  queued", waiting)
    assert re.fullmatch(rf"{QUEUED['taskId']}  {when}  cancelled  task_cancelled", cancelled)
    assert re.fullmatch(rf"{QUEUED['taskId']}  {when}  completed", done)
    assert service.requests[0].path == "/workspace/memory/tasks?limit=50"


def test_the_list_can_be_narrowed_and_given_as_json(capsys):
    page: dict[str, object] = {"tasks": [], "nextCursor": None}
    narrowed = ("--status", "failed", "--outcome", "cancelled", "--kind", "dream", "--limit", "3")
    with scripted_service([Reply(200, page)]) as service:
        assert run("tasks", *narrowed, "--json", "--url", service.url) == 0

    assert json.loads(capsys.readouterr().out) == page
    path = "/workspace/memory/tasks?status=failed&outcome=cancelled&kind=dream&limit=3"
    assert service.requests[0].path == path


@pytest.mark.parametrize(
    "wrong", [("--status", "odd"), ("--kind", "odd"), ("--limit", "0"), ("--limit", "201")]
)
def test_what_no_task_can_be_is_wrong_usage(capsys, wrong):
    assert run("tasks", *wrong) == 2


def test_a_task_can_be_asked_for_again_and_waited_for(capsys):
    with scripted_service([Reply(202, QUEUED), Reply(200, DONE)]) as service:
        assert run("retry", "remember-1", "--wait", "--url", service.url) == 0

    assert capsys.readouterr().out.startswith("Saved")
    seen = service.requests[0]
    assert (seen.method, seen.path) == ("POST", "/workspace/memory/remember/remember-1/retry")
