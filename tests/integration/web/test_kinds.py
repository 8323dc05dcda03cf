"""Forget, dream, dry runs and their application, as HTTP callers meet them."""

from typing import Any

import pytest

from core.ids import new_task_id
from tests.support.lane_driver import LaneDriver
from tests.support.web_server import WebServer

FORGET, DREAM = "/workspace/memory/forget", "/workspace/memory/dream"
SUMMARY = "No managed auto-memory entries matched."
NOTHING = {"summary": SUMMARY, "removedEntries": [], "touchedTopics": [], "touchedScopes": []}
PREVIEW = {"baseRevision": "r1", "diff": []}


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        (FORGET, {"query": "x", "dryRun": "yes"}, "invalid_dry_run"),
        (FORGET, {"query": " ", "dryRun": "yes", "scope": None}, "invalid_query"),
        (FORGET, {"query": "x", "purge": 1}, "invalid_purge"),
        (FORGET, {"query": "x", "purge": True, "dryRun": True}, "invalid_purge"),
        (DREAM, {"scope": "team", "dryRun": 1}, "invalid_scope"),
        (DREAM, {"dryRun": 1}, "invalid_dry_run"),
        ("/workspace/memory/remember", {"content": "x", "dryRun": []}, "invalid_dry_run"),
    ],
)
def test_a_field_that_is_not_what_it_must_be_is_refused(
    web: WebServer, path: str, body: dict[str, Any], code: str
) -> None:
    answer = web.post(path, body)

    assert (answer.status, answer.json["code"]) == (400, code)


@pytest.mark.parametrize("kind", ["forget", "dream"])
def test_a_task_is_found_by_its_kind_only_and_among_all(web: WebServer, kind: str) -> None:
    task = web.post(f"/workspace/memory/{kind}", {"query": "tea"}).json

    other = "dream" if kind == "forget" else "forget"
    for place, status in ((kind, 200), ("tasks", 200), (other, 404), ("remember", 404)):
        answer = web.request("GET", f"/workspace/memory/{place}/{task['taskId']}")
        assert answer.status == status
        assert status == 200 or answer.json["code"] == f"{place}_task_not_found"


def test_an_unknown_task_is_told_by_the_code_of_all(web: WebServer) -> None:
    for task_id in (new_task_id("forget"), "forget-1", "purr-1", "x"):
        answer = web.request("GET", f"/workspace/memory/tasks/{task_id}")
        assert (answer.status, answer.json["code"]) == (404, "task_not_found")


@pytest.fixture
def preview(web: WebServer, lane: LaneDriver) -> str:
    """Path of a task that has shown what it would do."""
    task = web.post(FORGET, {"query": "tea", "scope": "user", "dryRun": True}).json
    lane.complete(task["taskId"], NOTHING | {"preview": PREVIEW})
    return f"{FORGET}/{task['taskId']}"


def test_a_dry_run_shows_its_preview(web: WebServer, preview: str) -> None:
    assert web.request("GET", preview).json["result"]["preview"] == PREVIEW


def test_a_preview_is_applied_by_one_task_however_often_it_is_asked_for(web: WebServer, preview: str) -> None:
    first, again = (web.post(f"{preview}/apply", {}) for _ in range(2))

    assert (first.status, again.status) == (202, 202)
    assert first.json["taskId"] == again.json["taskId"] != preview.rpartition("/")[2]
    assert first.headers["location"] == f"{FORGET}/{first.json['taskId']}"
    assert first.json["scope"] == "user"


def test_a_preview_whose_application_failed_can_be_applied_again(
    web: WebServer, lane: LaneDriver, preview: str
) -> None:
    first = web.post(f"{preview}/apply", {}).json
    lane.fail(first["taskId"], "memory_conflict", "Memory was changed.")

    again = web.post(f"{preview}/apply", {}).json

    assert again["taskId"] != first["taskId"]
    lane.complete(again["taskId"], NOTHING)
    assert web.post(f"{preview}/apply", {}).json["taskId"] == again["taskId"]


def test_only_the_preview_of_a_completed_dry_run_can_be_applied(web: WebServer, lane: LaneDriver) -> None:
    queued = web.post(FORGET, {"query": "tea", "dryRun": True}).json["taskId"]
    assert refused(web, queued) == (409, "no_preview")
    lane.complete(queued, NOTHING)
    assert refused(web, queued) == (409, "no_preview")
    assert refused(web, new_task_id("forget")) == (404, "forget_task_not_found")


def refused(web: WebServer, task_id: str) -> tuple[int, str]:
    answer = web.post(f"{FORGET}/{task_id}/apply", {})
    return answer.status, answer.json["code"]
