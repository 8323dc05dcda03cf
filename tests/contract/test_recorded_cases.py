"""Each recorded exchange, replayed against the real application on its real server."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.workspaces import Workspaces
from tests.support.client_sessions import enter
from tests.support.contract_cases import RECORDED_HOME, Case, expected_of, load_cases
from tests.support.lane_driver import LaneDriver
from tests.support.web_server import Answer, WebServer, running_web
from web.client_id import CLIENT_ID_HEADER

ADDED_TASK_KEYS = {
    "workspaceId",
    "attempt",
    "position",
    "startedAt",
    "finishedAt",
    "outcome",
    "revision",
    "usage",
    "requestId",
}
VOLATILE_TASK_KEYS = {"taskId", "createdAt", "updatedAt"}
SINGLE = [case for group in ("content", "auth", "body") for case in load_cases(group)]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="module")
def web(redis_url: str, workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    with running_web(redis_url, [workspace], folder=tmp_path_factory.mktemp("web")) as server:
        yield server


@pytest.fixture(scope="module")
def lane(redis_url: str, workspace: Path) -> LaneDriver:
    return LaneDriver(redis_url, Workspaces([str(workspace)]).primary.id)


def send(web: WebServer, case: Case, path: str) -> Answer:
    return web.request(case.method, path, headers=case.sent_headers(web.port), body=case.sent_body())


def body_of(answer: Answer) -> Any:
    return json.loads(answer.raw) if answer.raw else None


@pytest.mark.parametrize("case", SINGLE, ids=lambda case: case.name)
def test_the_answer_is_as_recorded(web: WebServer, case: Case) -> None:
    answer = send(web, case, case.path)

    expected = expected_of(case)
    assert answer.status == expected.status
    assert body_of(answer) == expected.body
    assert answer.headers.get("vary") == case.answer_headers.get("vary")
    if expected.body is not None:
        assert answer.headers["content-type"] == "application/json; charset=utf-8"
    for method in case.answer_headers.get("allow", "").split():
        assert method in answer.headers["allow"]


@pytest.mark.parametrize("case", load_cases("auth"), ids=lambda case: case.name)
def test_a_client_id_changes_nothing_at_the_door(web: WebServer, case: Case) -> None:
    identified = replace(case, headers={**case.headers, CLIENT_ID_HEADER: enter(web)["clientId"]})

    answer = send(web, identified, case.path)

    expected = expected_of(case)
    assert (answer.status, body_of(answer)) == (expected.status, expected.body)


@pytest.mark.parametrize("is_identified", [False, True], ids=["anonymous", "with a client id"])
def test_a_life_of_tasks_is_as_recorded(web: WebServer, lane: LaneDriver, *, is_identified: bool) -> None:
    ours_by_recorded: dict[str, str] = {}
    identity = {CLIENT_ID_HEADER: enter(web)["clientId"]} if is_identified else {}
    for recorded in load_cases("ok"):
        case = replace(recorded, headers={**recorded.headers, **identity})
        path = case.path
        for recorded_id, our_id in ours_by_recorded.items():
            path = path.replace(recorded_id, our_id)
        if case.method == "GET":
            bring_to(lane, path.rpartition("/")[2], case)

        answer = send(web, case, path)

        expected = expected_of(case)
        assert answer.status == expected.status, case.name
        task = answer.json
        if case.method == "POST":
            ours_by_recorded[case.answer["taskId"]] = task["taskId"]
            assert answer.headers["location"] == f"{case.path}/{task['taskId']}"
        assert task["taskId"] == ours_by_recorded[case.answer["taskId"]]
        assert contract_part(task) == contract_part(expected.body), case.name
        assert task.keys() - expected.body.keys() <= ADDED_TASK_KEYS


def bring_to(lane: LaneDriver, task_id: str, case: Case) -> None:
    if case.answer["status"] == "running":
        lane.start(task_id)
    else:
        text = json.dumps(case.answer["result"]).replace(RECORDED_HOME, str(Path.home()))
        lane.complete(task_id, json.loads(text))


def contract_part(task: dict[str, Any]) -> dict[str, Any]:
    return {name: task[name] for name in task.keys() - ADDED_TASK_KEYS - VOLATILE_TASK_KEYS}
