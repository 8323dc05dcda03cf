from typing import Any

import pytest

from agent.requests import (
    CallRefused,
    check_initialize,
    params_object,
    parse_ping,
    parse_remember,
    parse_resolve,
)
from core.ids import new_task_id

TASK = new_task_id("remember")
META = {"taskId": TASK, "laneId": "d/w", "fence": 3, "timeoutMs": 5}


def test_a_request_with_our_meta_is_read_in_full() -> None:
    request = parse_remember(
        {"content": "x\ud800", "scope": "user", "_meta": {"memlane/task": META}}, workspace="/w"
    )

    assert request.params.content == "x\ufffd"
    assert request.params.cwd == "/w"
    assert request.meta is not None
    assert (request.meta.fence, request.meta.timeout_ms) == (3, 5)


@pytest.mark.parametrize("meta", [None, 5, {}, {"other": 1}])
def test_a_request_without_our_meta_has_none(meta: Any) -> None:
    assert parse_remember({"content": "x", "_meta": meta}, workspace="/w").meta is None


@pytest.mark.parametrize(
    "meta",
    [
        "x",
        {},
        META | {"fence": 0},
        META | {"taskId": "../x"},
        META | {"taskId": new_task_id("dream")},
        META | {"clientId": "a b"},
    ],
)
def test_broken_meta_is_refused(meta: Any) -> None:
    with pytest.raises(CallRefused, match="Invalid params: Invalid memlane/task"):
        parse_remember({"content": "x", "_meta": {"memlane/task": meta}}, workspace="/w")


def test_the_size_limit_counts_utf8_bytes() -> None:
    parse_remember({"content": "ä" * 32_768}, workspace="/w")
    with pytest.raises(CallRefused, match="Content exceeds maximum size"):
        parse_remember({"content": "ä" * 32_768 + "x"}, workspace="/w")


@pytest.mark.parametrize(
    ("version", "received"),
    [("1", "string"), (True, "boolean"), (None, "null"), ([], "array"), ({}, "object")],
)
def test_a_protocol_version_that_is_no_number_is_refused(version: Any, received: str) -> None:
    with pytest.raises(CallRefused) as refused:
        check_initialize({"protocolVersion": version})

    assert refused.value.payload[0]["message"] == f"Invalid input: expected number, received {received}"


@pytest.mark.parametrize(
    "params", [{}, {"v": True, "nonce": 1}, {"v": 1}, {"v": 1, "nonce": True}, {"v": 1, "nonce": 1.5}]
)
def test_a_sloppy_ping_is_refused(params: dict[str, Any]) -> None:
    with pytest.raises(CallRefused, match="Invalid channel liveness ping"):
        parse_ping(params)


def test_params_must_be_an_object() -> None:
    with pytest.raises(CallRefused) as refused:
        params_object([1])

    assert refused.value.error_code == -32603


def test_a_resolve_request_closes_unless_told_otherwise() -> None:
    assert parse_resolve({"taskId": TASK, "laneId": "d/w", "fence": 1}, workspace="/w").close


@pytest.mark.parametrize(
    ("params", "named"),
    [
        ({}, "taskId"),
        ({"taskId": TASK, "laneId": "l", "fence": "1"}, "fence"),
        ({"taskId": "x", "laneId": "l", "fence": 1}, "taskId"),
    ],
)
def test_a_broken_resolve_request_is_refused(params: dict[str, Any], named: str) -> None:
    with pytest.raises(CallRefused, match=f"Invalid or missing {named}"):
        parse_resolve(params, workspace="/w")
