"""The tasks of a workspace in pages, and tasks that repeat one of them, over HTTP."""

from typing import Any

import pytest

from core.ids import TaskId, new_task_id
from core.keys import LaneKeys
from core.workspaces import Workspaces
from events.connect import connect
from tests.support.client_sessions import enter
from tests.support.lane_driver import LaneDriver
from tests.support.web_app import AppRequests

MEMORY = "/workspace/memory"
TASKS = f"{MEMORY}/tasks"


@pytest.fixture
def redis(redis_url: str) -> Any:
    return connect(redis_url)


@pytest.fixture
def keys(workspaces: Workspaces) -> LaneKeys:
    return LaneKeys(workspaces.primary.id)


@pytest.fixture(autouse=True)
def _empty(redis: Any, keys: LaneKeys) -> None:
    redis.delete(keys.index, keys.pending, keys.lane, keys.events)


def remember(api: AppRequests) -> TaskId:
    task_id: TaskId = api.post(f"{MEMORY}/remember", {"content": "x"}).json["taskId"]
    return task_id


def listed(api: AppRequests, query: str = "") -> list[str]:
    return [task["taskId"] for task in api.get(f"{TASKS}?{query}").json["tasks"]]


def test_pages_neither_repeat_nor_skip_when_tasks_come_in_between(api: AppRequests) -> None:
    tasks = [remember(api) for _ in range(5)]

    first = api.get(f"{TASKS}?limit=2")
    remember(api)
    second = api.get(first.headers["link"].removeprefix("<").partition(">")[0])
    third = api.get(f"{TASKS}?limit=2&cursor={second.json['nextCursor']}")

    pages = [[task["taskId"] for task in page.json["tasks"]] for page in (first, second, third)]
    assert pages == [tasks[:2:-1], tasks[2:0:-1], tasks[:1]]
    assert first.headers["link"].endswith('; rel="next"')
    assert (third.json["nextCursor"], "link" in third.headers) == (None, False)


def test_tasks_are_listed_by_kind_status_and_outcome(api: AppRequests, lane: LaneDriver) -> None:
    done, failed, cancelled, running = (remember(api) for _ in range(4))
    api.post(f"{MEMORY}/remember/{cancelled}/cancel", {})
    lane.complete(done)
    lane.fail(failed, "remember_failed", "Workspace memory remember failed.")
    lane.start(running)
    dream = api.post(f"{MEMORY}/dream", {}).json["taskId"]

    assert listed(api) == [dream, running, cancelled, failed, done]
    assert listed(api, "kind=dream") == [dream]
    assert listed(api, "status=queued") == [dream]
    assert listed(api, "status=running") == [running]
    assert listed(api, "status=failed") == [cancelled, failed]
    assert listed(api, "status=failed&outcome=cancelled&kind=remember") == [cancelled]
    assert listed(api, "outcome=completed") == [done]
    assert listed(api, "status=queued&outcome=failed") == []
    lane.complete(running)


def test_a_client_is_shown_its_own_tasks_and_those_of_nobody(api: AppRequests) -> None:
    ours, theirs = ({"X-Qwen-Client-Id": enter(api)["clientId"]} for _ in range(2))
    nobodys = remember(api)
    task = api.post(f"{MEMORY}/remember", {"content": "x"}, headers=ours).json["taskId"]

    seen = [
        [one["taskId"] for one in api.get(TASKS, headers=headers).json["tasks"]]
        for headers in (ours, theirs, {})
    ]

    assert seen == [[task, nobodys], [nobodys], [nobodys]]
    assert api.get(TASKS, headers={"X-Qwen-Client-Id": "client_nope"}).json["code"] == "invalid_client_id"
    assert api.post(f"{MEMORY}/remember/{task}/retry", {}, headers=theirs).status == 404


def test_a_listed_task_is_shown_without_its_result(api: AppRequests, lane: LaneDriver) -> None:
    lane.complete(remember(api))

    (task,) = api.get(TASKS).json["tasks"]

    assert (task["status"], task["outcome"]) == ("completed", "completed")
    assert "result" not in task


def test_a_list_that_the_caller_has_is_not_sent_again(api: AppRequests) -> None:
    remember(api)
    known = {"If-None-Match": api.get(TASKS).headers["etag"]}

    assert api.get(TASKS, headers=known).status == 304
    remember(api)
    assert api.get(TASKS, headers=known).status == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("limit=ten", "limit"),
        ("kind=purr", "kind"),
        ("status=cancelled", "status"),
        ("outcome=queued", "outcome"),
        ("cursor=0", "cursor"),
        ("cursor=abc", "cursor"),
        ("cursor=9999999999", "cursor"),
    ],
)
def test_a_parameter_that_is_not_what_it_must_be_is_refused(api: AppRequests, query: str, field: str) -> None:
    answer = api.get(f"{TASKS}?{query}")

    assert (answer.status, answer.json["code"]) == (400, "invalid_request")
    assert answer.json["error"].startswith(f"`{field}` must be ")


@pytest.mark.parametrize("place", ["remember", "tasks"])
def test_an_ended_task_is_asked_for_once_more(api: AppRequests, lane: LaneDriver, place: str) -> None:
    failed = remember(api)
    lane.fail(failed, "model_unavailable", "The language model did not answer.")

    answer = api.post(
        f"{MEMORY}/{place}/{failed}/retry", {}, headers={"X-Request-ID": "r-2", "Idempotency-Key": failed}
    )
    again = api.post(f"{MEMORY}/{place}/{failed}/retry", {}, headers={"Idempotency-Key": failed})

    task = answer.json
    assert (answer.status, task["status"], task["retryOf"]) == (202, "queued", failed)
    assert answer.headers["location"] == f"{MEMORY}/remember/{task['taskId']}"
    assert again.json["taskId"] == task["taskId"] != failed
    assert again.headers["idempotent-replayed"] == "true"
    assert task["requestId"] == "r-2"
    assert dict(lane.input_of(task["taskId"])) == {"content": "x", "contextMode": "workspace"}
    lane.complete(task["taskId"])


def test_what_can_not_be_asked_for_once_more_is_refused_and_nothing_queued(
    api: AppRequests, lane: LaneDriver, redis: Any, keys: LaneKeys
) -> None:
    ended = remember(api)
    lane.complete(ended)
    queued = remember(api)
    redis.delete(keys.input(ended))  # its time is over
    refusals = [
        (f"remember/{queued}", 409, "task_not_finished"),
        (f"remember/{ended}", 409, "input_gone"),
        (f"forget/{ended}", 404, "forget_task_not_found"),
        (f"tasks/{new_task_id('undo')}", 404, "task_not_found"),
    ]

    answers = [api.post(f"{MEMORY}/{place}/retry", {}) for place, _, _ in refusals]

    assert [(answer.status, answer.json["code"]) for answer in answers] == [one[1:] for one in refusals]
    assert listed(api) == [queued, ended]
