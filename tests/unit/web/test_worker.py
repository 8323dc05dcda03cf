import json
import re
from typing import Any

from gunicorn.config import Config  # type: ignore[import-untyped]  # ships no types
from gunicorn.http.parser import RequestParser  # type: ignore[import-untyped]  # ships no types

from web.problems import INTERNAL
from web.worker import render_refusal


def read(sent: bytes) -> Any:
    return next(RequestParser(Config(), iter([sent]), ("127.0.0.1", 1)))


def take_apart(answer: bytes) -> tuple[str, dict[str, str], dict[str, Any]]:
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    return status, dict(line.lower().split(": ", 1) for line in lines), json.loads(body)


def test_a_request_that_could_not_be_read_is_refused_like_any_other() -> None:
    status, headers, body = take_apart(render_refusal(INTERNAL, None))

    assert status == "HTTP/1.1 500 INTERNAL SERVER ERROR"
    assert body == {"error": "Internal server error", "code": "internal"}
    assert re.fullmatch("[0-9a-f-]{36}", headers["x-request-id"])
    assert headers["content-type"] == "application/json; charset=utf-8"
    assert headers["connection"] == "close"
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"


def test_a_request_that_was_read_keeps_its_id_and_gets_the_shape_it_asks_for() -> None:
    request = read(
        b"GET /a%2Fb?c HTTP/1.1\r\nX-Request-ID: job-1\r\nAccept: application/problem+json\r\n\r\n"
    )

    _, headers, body = take_apart(render_refusal(INTERNAL, request))

    assert headers["x-request-id"] == "job-1"
    assert headers["content-type"] == "application/problem+json"
    assert (body["status"], body["instance"]) == (500, "/a%2Fb")
