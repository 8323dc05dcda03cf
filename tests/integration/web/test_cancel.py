"""Cancelling, as HTTP callers meet it."""

import pytest

from core.ids import new_task_id
from tests.support.lane_driver import LaneDriver
from tests.support.web_server import WebServer

CANCELLED = {"code": "task_cancelled", "message": "The task was cancelled."}
FORGET = "/workspace/memory/forget"


def asked(web: WebServer) -> str:
    task_id: str = web.post(FORGET, {"query": "tea"}).json["taskId"]
    return task_id


@pytest.mark.parametrize("place", ["forget", "tasks"])
def test_a_queued_task_is_cancelled_at_once(web: WebServer, place: str) -> None:
    task_id = asked(web)

    answer = web.post(f"/workspace/memory/{place}/{task_id}/cancel", {})

    assert answer.status == 202
    seen = web.request("GET", f"{FORGET}/{task_id}").json
    assert answer.json == seen
    assert (seen["status"], seen["outcome"], seen["error"], seen["attempt"]) == (
        "failed",
        "cancelled",
        CANCELLED,
        0,
    )


def test_a_running_task_is_told_and_ends_as_its_worker_says(web: WebServer, lane: LaneDriver) -> None:
    task_id = asked(web)
    lane.start(task_id)

    told, again = (web.post(f"{FORGET}/{task_id}/cancel", {}) for _ in range(2))

    assert (told.status, told.json["status"], told.json["cancelRequested"]) == (202, "running", True)
    assert (again.status, again.json["cancelRequested"]) == (202, True)
    lane.complete(task_id)
    ended = web.request("GET", f"{FORGET}/{task_id}").json
    assert (ended["status"], ended["outcome"], ended["cancelRequested"]) == ("completed", "completed", True)


def test_a_task_that_has_ended_can_not_be_cancelled(web: WebServer, lane: LaneDriver) -> None:
    task_id = asked(web)
    lane.complete(task_id)

    answer = web.post(f"{FORGET}/{task_id}/cancel", {})

    assert (answer.status, answer.json["code"]) == (409, "task_finished")
    assert "cancelRequested" not in web.request("GET", f"{FORGET}/{task_id}").json


@pytest.mark.parametrize(("place", "code"), [("dream", "dream_task_not_found"), ("tasks", "task_not_found")])
def test_what_is_not_there_can_not_be_cancelled(web: WebServer, place: str, code: str) -> None:
    task_id = asked(web) if place == "dream" else new_task_id("forget")

    answer = web.post(f"/workspace/memory/{place}/{task_id}/cancel", {})

    assert (answer.status, answer.json["code"]) == (404, code)


def test_only_a_post_cancels(web: WebServer) -> None:
    task_id = asked(web)

    answer = web.request("GET", f"{FORGET}/{task_id}/cancel")

    assert (answer.status, answer.json["code"]) == (405, "method_not_allowed")
    assert web.request("GET", f"{FORGET}/{task_id}").json["status"] == "queued"
