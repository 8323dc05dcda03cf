"""Client ids decide who sees a task."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from flask.testing import FlaskClient

from core.workspaces import Workspaces
from tests.support.client_sessions import as_client, close, enter, post
from tests.support.lane_driver import LaneDriver
from tests.support.web_app import application
from tests.support.web_server import AUTHORIZED, WebServer
from web.keyring import Keyring, KnownToken, digest_of
from web.principal import Principal

REMEMBER = "/workspace/memory/remember"


def test_a_task_of_a_client_is_there_for_that_client_only(web: WebServer, own: Mapping[str, Any]) -> None:
    other = enter(web)["clientId"]
    task_id = post(web, REMEMBER, {"content": "x"}, client=own["clientId"]).json["taskId"]
    unknown = web.request("GET", f"{REMEMBER}/remember-none", headers=AUTHORIZED)

    assert web.request("GET", f"{REMEMBER}/{task_id}", headers=as_client(own["clientId"])).status == 200
    for client in (other, ""):
        for method, end in (("GET", ""), ("POST", "/cancel"), ("POST", "/apply"), ("POST", "/retry")):
            hidden = web.request(method, f"{REMEMBER}/{task_id}{end}", headers=as_client(client))
            assert (hidden.status, hidden.raw) == (404, unknown.raw)
        for method, end in (("GET", ""), ("POST", "/cancel")):
            path = f"/workspace/memory/tasks/{task_id}{end}"
            assert web.request(method, path, headers=as_client(client)).status == 404
        assert task_id not in listed(web, client)
    assert task_id in listed(web, own["clientId"])


def listed(web: WebServer, client: str) -> list[str]:
    answer = web.request("GET", "/workspace/memory/tasks?limit=200", headers=as_client(client))
    return [task["taskId"] for task in answer.json["tasks"]]


def test_a_task_of_nobody_is_there_for_everybody(web: WebServer, own: Mapping[str, Any]) -> None:
    task_id = post(web, REMEMBER, {"content": "x"}).json["taskId"]

    answer = web.request("GET", f"{REMEMBER}/{task_id}", headers=as_client(own["clientId"]))

    assert answer.status == 200


@pytest.mark.parametrize("path", [REMEMBER, "/workspace/memory/forget", "/workspace/memory/dream"])
def test_an_id_that_is_not_registered_is_refused(web: WebServer, stored: None, path: str) -> None:
    body = {"content": "x", "query": "x"}

    answer = post(web, path, body, client="client_unknown")

    assert answer.status == 400
    assert answer.json == {
        "error": 'Client id "client_unknown" is not registered for this workspace',
        "code": "invalid_client_id",
        "clientId": "client_unknown",
    }


def test_an_id_counts_in_its_own_workspace_only(
    web: WebServer, own: Mapping[str, Any], workspaces: Workspaces
) -> None:
    second = f"/workspaces/{list(workspaces)[1].id}/memory/remember"

    assert post(web, second, {"content": "x"}, client=own["clientId"]).status == 400


def test_a_finished_task_stays_readable_after_its_session_was_closed(
    web: WebServer, own: Mapping[str, Any], lane: LaneDriver
) -> None:
    task_id = post(web, REMEMBER, {"content": "x"}, client=own["clientId"]).json["taskId"]
    lane.complete(task_id)

    close(web, own["sessionId"], client=own["clientId"])

    answer = web.request("GET", f"{REMEMBER}/{task_id}", headers=as_client(own["clientId"]))
    assert answer.json["status"] == "completed"


@pytest.fixture(scope="module")
def shared(redis_url: str, workspaces: Workspaces) -> Iterator[FlaskClient]:
    """A service that several people have tokens of."""
    people = (Principal("ada"), Principal("bob"), Principal("olga", "operator"))
    named = [KnownToken(digest_of(one.id.encode()), one) for one in people]
    with application(redis_url, workspaces, keyring=Keyring(lambda: named)) as app:
        yield app.test_client()


def sent_by(name: str, client: str = "") -> dict[str, str]:
    return {"Authorization": f"Bearer {name}", "X-Qwen-Client-Id": client}


def test_a_client_id_is_good_with_the_token_only_that_it_was_given_to(shared: FlaskClient) -> None:
    entry = shared.post("/session", headers=sent_by("ada")).get_json()
    theirs = sent_by("bob", entry["clientId"])

    answers = [
        shared.post(REMEMBER, json={"content": "x"}, headers=theirs),
        shared.post(f"/session/{entry['sessionId']}/heartbeat", headers=theirs),
        shared.delete(f"/session/{entry['sessionId']}", headers=theirs),
    ]

    assert [(one.status_code, one.get_json()["code"]) for one in answers] == [(400, "invalid_client_id")] * 3
    assert shared.post("/session", headers=theirs).get_json()["clientId"] != entry["clientId"]


def test_an_operator_sees_the_tasks_of_all_clients(shared: FlaskClient) -> None:
    client = shared.post("/session", headers=sent_by("ada")).get_json()["clientId"]
    task = shared.post(REMEMBER, json={"content": "x"}, headers=sent_by("ada", client)).get_json()
    path = f"{REMEMBER}/{task['taskId']}"

    assert shared.get(path, headers=sent_by("olga")).status_code == 200
    assert shared.get(path, headers=sent_by("bob")).status_code == 404
    assert shared.post(f"{path}/cancel", headers=sent_by("olga")).status_code == 202


def test_a_session_is_there_for_tokens_of_its_workspace_only(redis_url: str, workspaces: Workspaces) -> None:
    first, second = workspaces
    named = [
        KnownToken(digest_of(one.id.encode()), Principal(one.id, workspaces=frozenset({one.id})))
        for one in (first, second)
    ]
    with application(redis_url, workspaces, keyring=Keyring(lambda: named)) as app:
        web = app.test_client()
        entry = web.post("/session", headers=sent_by(first.id)).get_json()
        refused = [
            web.post("/session", headers=sent_by(second.id)),
            web.post("/session", json={"cwd": first.path}, headers=sent_by(second.id)),
            web.post("/session", json={"cwd": "/srv/other"}, headers=sent_by(second.id)),
        ]
        hidden = web.delete(f"/session/{entry['sessionId']}", headers=sent_by(second.id))
        entered = web.post("/session", json={"cwd": second.path}, headers=sent_by(second.id))

    assert {(one.status_code, one.get_data()) for one in refused} == {
        (403, b'{"error":"This token may not do that","code":"forbidden"}')
    }
    assert (hidden.status_code, hidden.get_json()["code"]) == (404, "session_not_found")
    assert entered.status_code == 200
