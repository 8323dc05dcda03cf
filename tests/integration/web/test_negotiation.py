"""What goes with any route: media types, methods, HEAD, OPTIONS, trace context."""

from collections.abc import Iterator

import pytest
from flask import Flask

from core.workspaces import Workspaces
from tests.support.web_app import application, path_of
from tests.support.web_server import AUTHORIZED
from web.route import routes_of

TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
HTML_ONLY = {**AUTHORIZED, "Accept": "text/html"}


@pytest.fixture(scope="module")
def app(redis_url: str, workspaces: Workspaces) -> Iterator[Flask]:
    with application(redis_url, workspaces) as made:
        yield made


def test_who_takes_no_answer_of_a_route_is_told_so_and_nothing_done(
    app: Flask, workspaces: Workspaces
) -> None:
    client = app.test_client()
    asked = [route for route in routes_of(app).values() if route.answer is not None and route.asks_for_token]
    for route in asked:
        answer = client.open(
            path_of(route.rules[-1], workspaces.primary), method=route.method, headers=HTML_ONLY
        )
        assert answer.status_code == 406, route.name
        assert answer.get_json() == {"error": "Not Acceptable", "code": "not_acceptable"}
    assert {"remember", "find_task", "list_documents", "capabilities"} <= {route.name for route in asked}


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        ("/capabilities", "application/problem+json"),
        ("/capabilities", "text/html, */*;q=0.1"),
        ("/workspace/memory/export", "application/zip"),
        ("/workspace/memory/export", "application/json"),
        ("/workspace/events", "text/event-stream"),
        ("/health/live", "text/plain"),
    ],
)
def test_who_takes_some_answer_of_a_route_gets_it(app: Flask, path: str, accept: str) -> None:
    answer = app.test_client().head(path, headers={**AUTHORIZED, "Accept": accept})

    assert answer.status_code != 406


def test_who_wants_a_state_that_is_not_there_gets_an_error_and_no_body_of_another_state(app: Flask) -> None:
    headers = {**AUTHORIZED, "If-Match": '"other"'}
    for path in ("/workspace/memory/tasks", "/openapi.json", "/asyncapi.json"):
        answer = app.test_client().get(path, headers=headers)
        assert (answer.status_code, answer.get_json()["code"]) == (412, "precondition_failed")


def test_an_unknown_path_is_unknown_whatever_is_taken(app: Flask) -> None:
    assert app.test_client().get("/nope", headers=HTML_ONLY).status_code == 404


def test_head_says_what_get_would_without_a_body(app: Flask, workspaces: Workspaces) -> None:
    client = app.test_client()
    for route in routes_of(app).values():
        if route.method == "GET" and "text/event-stream" not in route.media:
            path = path_of(route.rules[-1], workspaces.primary)
            got, head = client.get(path, headers=AUTHORIZED), client.head(path, headers=AUTHORIZED)
            assert (head.status_code, head.data) == (got.status_code, b""), route.name
            assert head.content_type == got.content_type


def test_other_methods_and_options_tell_what_there_is(app: Flask, workspaces: Workspaces) -> None:
    client = app.test_client()
    for route in routes_of(app).values():
        path = path_of(route.rules[-1], workspaces.primary)
        refused = client.patch(path, headers=AUTHORIZED)
        told = client.options(path, headers=AUTHORIZED)
        assert (refused.status_code, told.status_code) == (405, 200), route.name
        assert refused.get_json()["code"] == "method_not_allowed"
        for answer in (refused, told):
            assert {route.method, "OPTIONS"} <= set(answer.headers["Allow"].split(", "))


@pytest.mark.parametrize("path", ["/capabilities", "/nope", "/health/live"])
def test_a_trace_context_is_echoed(app: Flask, path: str) -> None:
    answer = app.test_client().get(path, headers={**AUTHORIZED, "traceparent": TRACEPARENT})

    assert answer.headers["traceparent"] == TRACEPARENT


@pytest.mark.parametrize("text", ["", "00-0-0-0", f"ff{TRACEPARENT[2:]}"])
def test_a_malformed_trace_context_is_ignored(app: Flask, text: str) -> None:
    answer = app.test_client().get("/capabilities", headers={**AUTHORIZED, "traceparent": text})

    assert answer.status_code == 200
    assert "traceparent" not in answer.headers
