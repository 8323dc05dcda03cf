"""The door, from outside: tokens, names, origins, header injection."""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from flask import Flask

from core.workspaces import Workspaces
from tests.support.web_app import application
from tests.support.web_server import AUTHORIZED, WebServer

if TYPE_CHECKING:
    from werkzeug.routing import Rule

OPEN_RULES = {
    "/health",
    "/health/live",
    "/health/ready",
    "/channels/<channel>/inbound",
    "/channels/<channel>/slack/events",
}


@pytest.fixture(scope="module")
def app(redis_url: str, workspaces: Workspaces) -> Iterator[Flask]:
    with application(redis_url, workspaces) as made:
        yield made


def closed_requests(app: Flask) -> Iterator[tuple[str, str]]:
    rules: list[Rule] = list(app.url_map.iter_rules())
    for rule in rules:
        path = re.sub("<[^>]+>", "x", rule.rule)
        for method in sorted(rule.methods or ()):
            if rule.rule not in OPEN_RULES:
                yield method, path


def test_every_route_but_the_probes_asks_for_a_token(app: Flask) -> None:
    client = app.test_client()
    seen = list(closed_requests(app))

    for method, path in seen:
        for headers in ({}, {"Authorization": "Bearer nope"}):
            answer = client.open(path, method=method, headers=headers)
            assert answer.status_code == 401, (method, path)
            assert answer.headers["WWW-Authenticate"] == "Bearer"

    assert ("POST", "/workspace/memory/remember") in seen
    assert ("GET", "/workspaces/x/events") in seen


def test_the_probes_are_the_only_open_rules(app: Flask) -> None:
    client = app.test_client()

    answers = {rule.rule: client.get(rule.rule).status_code for rule in app.url_map.iter_rules()}

    assert {rule for rule, status in answers.items() if status != 401} - OPEN_RULES == set()


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.:{port}",
        "127.0.0.1:1",
        "[::2]:{port}",
        "127.0.0.1",
        "a b",
        "x\ty:{port}",
        "@",
    ],
)
def test_a_request_for_another_name_is_refused(web: WebServer, host: str) -> None:
    answer = web.request("GET", "/capabilities", headers={**AUTHORIZED, "Host": host.format(port=web.port)})

    assert (answer.status, answer.json["code"]) == (403, "forbidden_host")


def test_a_request_without_a_host_is_refused(web: WebServer) -> None:
    answer = web.exchange(b"GET /health HTTP/1.0\r\n\r\n")

    assert answer.startswith(b"HTTP/1.0 403 ")


def test_two_hosts_are_refused(web: WebServer) -> None:
    answer = web.exchange(b"GET /health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 400 ")


def test_an_absolute_target_is_judged_by_its_own_name(web: WebServer) -> None:
    foreign = web.request("GET", "http://evil.example/capabilities")
    ours = web.request("GET", f"http://localhost:{web.port}/capabilities")

    assert (foreign.status, ours.status) == (403, 200)


def test_the_probes_are_refused_under_another_name_as_well(web: WebServer) -> None:
    assert web.request("GET", "/health", headers={"Host": "evil.example"}).status == 403


def test_a_token_of_other_letters_is_no_server_error(web: WebServer) -> None:
    answer = web.request(
        "GET", "/capabilities", headers={"Authorization": b"Bearer t\xc3\xb6ken".decode("latin-1")}
    )

    assert answer.status == 401


def test_refusals_look_like_all_problems_on_demand(web: WebServer) -> None:
    answer = web.request("GET", "/capabilities", headers={"Accept": "application/problem+json"})

    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json["instance"] == "/capabilities"


def test_a_valid_request_id_is_kept(web: WebServer) -> None:
    answer = web.request("GET", "/health", headers={"X-Request-ID": "job-17:a.b_c"})

    assert answer.headers["x-request-id"] == "job-17:a.b_c"


@pytest.mark.parametrize("given", ["a b", "x" * 129, "a;b", "", "ä"])
def test_any_other_request_id_is_replaced(web: WebServer, given: str) -> None:
    answer = web.request("GET", "/health", headers={"X-Request-ID": given})

    assert re.fullmatch("[0-9a-f-]{36}", answer.headers["x-request-id"])


@pytest.mark.parametrize("injected", [b"a\rX-Evil: 1", b"a\nX-Evil: 1", b"a\r\n X-Evil: 1", b"a\0b"])
def test_a_line_break_in_a_header_gets_nowhere(web: WebServer, injected: bytes) -> None:
    lines = [b"GET /health HTTP/1.1", f"Host: localhost:{web.port}".encode(), b"Connection: close"]

    answer = web.exchange(b"\r\n".join([*lines, b"X-Request-ID: " + injected, b"", b""]))

    assert b"\r\nX-Evil" not in answer
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 200 "))
    assert json.loads(body)


def test_an_encoded_line_break_in_a_path_gets_nowhere(web: WebServer) -> None:
    answer = web.request("GET", "/workspaces/%0d%0aX-Evil:%201/events")

    assert answer.status == 400
    assert "x-evil" not in answer.headers


def test_answers_may_not_be_sniffed_or_stored_and_name_no_software(web: WebServer) -> None:
    for answer in (
        web.request("GET", "/capabilities"),
        web.request("GET", "/nope"),
        web.request("GET", "/", headers={}),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["server"] == "memlane"


def test_the_log_holds_no_token_and_no_request_text(web: WebServer) -> None:
    web.post("/workspace/memory/remember", {"content": "a-very-private-thing", "scope": "bad"})
    web.request("GET", "/capabilities", headers={"Authorization": "Bearer an-old-token"})
    web.exchange(b"GET /health HTTP/1.1\r\nAuthorization Bearer a-broken-header\r\n\r\n")

    log = web.log.read_text()

    assert "request_answered" in log
    assert not re.search("a-very-private-thing|an-old-token|a-broken-header|Bearer", log)


def test_a_mistake_of_ours_tells_nothing(redis_url: str, workspaces: Workspaces) -> None:
    with application(redis_url, workspaces) as broken:
        broken.view_functions["capabilities"] = lambda: str(1 // 0)

        answer = broken.test_client().get("/capabilities", headers=AUTHORIZED)

    assert answer.status_code == 500
    assert answer.get_json() == {"error": "Internal server error", "code": "internal"}
