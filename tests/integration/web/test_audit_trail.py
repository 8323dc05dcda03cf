"""Which requests go on record, what the record says, and who may read it."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from core.keys import audit
from core.workspaces import Workspaces
from events.connect import connect
from jobs.audit import KEPT
from tests.support.callers import OWNER, Caller, keyring_of, named
from tests.support.web_app import application

CLIENT = named("ci")
LANE = "/ops/lanes/{}/hold"


@pytest.fixture(scope="module")
def second(workspaces: Workspaces) -> Caller:
    _, workspace = workspaces
    return named("second", role="operator", workspaces=frozenset({workspace.id}))


@pytest.fixture
def app(redis_url: str, workspaces: Workspaces, second: Caller) -> Iterator[Flask]:
    """An application whose record is empty."""
    connect(redis_url).delete(*map(audit, KEPT))
    with application(redis_url, workspaces, keyring=keyring_of(CLIENT, second)) as made:
        yield made


def ask(app: Flask, method: str, path: str, caller: Caller = OWNER, **sent: Any) -> Any:
    headers = {**caller.headers, "X-Request-ID": "r-1", **sent.pop("more", {})}
    return app.test_client().open(path, method=method, headers=headers, **sent)


def recorded(app: Flask, outcome: str, caller: Caller = OWNER) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = ask(app, "GET", f"/ops/audit?outcome={outcome}", caller).get_json()[
        "entries"
    ]
    return entries


def test_an_act_says_who_did_what_to_what_and_when(app: Flask, workspaces: Workspaces) -> None:
    path = f"/ops/lanes/{workspaces.primary.id}/unhold"

    ask(app, "POST", path, more={"X-Qwen-Client-Id": "client_1"})

    (entry,) = recorded(app, "done")
    assert entry.pop("at").endswith("Z")
    assert entry == {
        "token": "default",
        "action": "unhold_lane",
        "target": path,
        "status": 200,
        "outcome": "done",
        "code": None,
        "workspaceId": workspaces.primary.id,
        "clientId": "client_1",
        "requestId": "r-1",
    }


@pytest.mark.parametrize(
    ("path", "sent", "action"),
    [
        ("/workspace/memory/revisions/r1/undo", {}, "undo_revision"),
        ("/workspace/memory/import", {"data": b"", "content_type": "application/zip"}, "import_memory"),
        ("/workspace/memory/forget", {"json": {"query": "tea", "purge": True}}, "forget"),
        ("/workspace/memory/tasks/x/cancel", {}, "cancel_task"),
        ("/workspace/memory/forget/x/cancel", {}, "cancel_forget"),
        ("/workspace/memory/documents/user/a.md/review", {"json": {}}, "review_document"),
        (LANE.format("0" * 16), {}, "hold_lane"),
    ],
)
def test_what_can_do_harm_is_on_record_whatever_came_of_it(
    app: Flask, path: str, sent: dict[str, Any], action: str
) -> None:
    answer = ask(app, "POST", path, **sent)

    outcome = "done" if answer.status_code < 400 else "refused"
    (entry,) = recorded(app, outcome)
    assert (entry["action"], entry["status"]) == (action, answer.status_code)
    assert entry["code"] == (answer.get_json().get("code") if outcome == "refused" else None)


@pytest.mark.parametrize(
    ("method", "path", "sent"),
    [
        ("GET", "/ops/lanes", {}),
        ("GET", "/workspace/memory/tasks/x", {}),
        ("POST", "/workspace/memory/remember", {"json": {"content": "a-private-thing"}}),
        ("POST", "/workspace/memory/forget", {"json": {"query": "tea", "purge": "yes"}}),
        ("OPTIONS", "/workspace/memory/revisions/r1/undo", {}),
        ("GET", "/workspace/memory/revisions/r1/undo", {}),
        ("GET", "/health", {}),
        ("GET", "/nope", {}),
    ],
)
def test_the_rest_is_not(app: Flask, method: str, path: str, sent: dict[str, Any]) -> None:
    ask(app, method, path, **sent)

    assert [*recorded(app, "done"), *recorded(app, "refused")] == []


def test_a_good_token_that_goes_too_far_is_on_record(
    app: Flask, workspaces: Workspaces, second: Caller
) -> None:
    ask(app, "GET", "/ops/lanes", CLIENT)
    ask(app, "GET", f"/workspaces/{workspaces.primary.id}/memory/documents", second)

    seen = [(one["token"], one["action"], one["status"]) for one in recorded(app, "refused")]
    assert seen == [("second", "list_documents", 403), ("ci", "list_lanes", 403)]


def test_strangers_leave_no_trace(app: Flask) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        app.test_client().post("/workspace/memory/revisions/r1/undo", headers=headers)

    assert recorded(app, "refused") == []


def test_the_record_holds_no_request_text(app: Flask, redis_url: str) -> None:
    ask(app, "POST", "/workspace/memory/forget", json={"query": "a-private-thing", "purge": True})

    record: Any = connect(redis_url).xrange(audit("done"))
    assert len(record) == 1
    assert "a-private-thing" not in str(record)


def test_a_client_id_that_is_none_is_left_out(app: Flask, workspaces: Workspaces) -> None:
    ask(app, "POST", LANE.format("0" * 16), more={"X-Qwen-Client-Id": "a b"})

    assert recorded(app, "refused")[0]["clientId"] is None


def test_pages_follow_each_other_by_cursor_and_link(app: Flask) -> None:
    for _ in range(3):
        ask(app, "POST", "/workspace/memory/tasks/x/cancel")

    first = ask(app, "GET", "/ops/audit?outcome=refused&limit=2")
    following = first.headers["Link"].partition(">")[0].removeprefix("<")
    second = ask(app, "GET", following)

    assert len(first.get_json()["entries"]) == 2
    assert first.get_json()["nextCursor"] in following
    assert len(second.get_json()["entries"]) == 1
    assert second.get_json()["nextCursor"] is None
    assert "Link" not in second.headers


def test_a_limited_operator_reads_of_its_own_workspaces_only(
    app: Flask, workspaces: Workspaces, second: Caller
) -> None:
    for workspace in workspaces:
        ask(app, "POST", f"/ops/lanes/{workspace.id}/unhold")

    assert len(recorded(app, "done")) == 2
    (own,) = recorded(app, "done", second)
    assert own["workspaceId"] == list(workspaces)[1].id


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "outcome=all", "cursor=x", "cursor=", "cursor=1"])
def test_a_query_that_makes_no_sense_is_refused(app: Flask, query: str) -> None:
    answer = ask(app, "GET", f"/ops/audit?{query}")

    assert (answer.status_code, answer.get_json()["code"]) == (400, "invalid_request")
