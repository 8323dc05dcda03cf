from typing import Any

import pytest

from agent.requests import (
    CallRefused,
    check_initialize,
    params_object,
    parse_dream,
    parse_forget,
    parse_import,
    parse_meta,
    parse_ping,
    parse_remember,
    parse_resolve,
)
from core.acp import MAX_IMPORTED
from core.ids import new_task_id
from core.memory_calls import DreamParams, ForgetParams

TASK = new_task_id("remember")
META = {"taskId": TASK, "laneId": "d/w", "fence": 3, "timeoutMs": 5}


def test_our_meta_is_read_beside_the_params() -> None:
    params = {"content": "x\ud800", "scope": "user", "_meta": {"memlane/task": META}}

    parsed, meta = parse_remember(params, workspace="/w"), parse_meta(params, ["remember"])

    assert (parsed.content, parsed.cwd) == ("x\ufffd", "/w")
    assert meta is not None
    assert (meta.fence, meta.timeout_ms) == (3, 5)


@pytest.mark.parametrize("meta", [None, 5, {}, {"other": 1}])
def test_a_request_without_our_meta_has_none(meta: Any) -> None:
    assert parse_meta({"content": "x", "_meta": meta}, ["remember"]) is None


@pytest.mark.parametrize(
    "meta",
    [
        "x",
        {},
        META | {"fence": 0},
        META | {"taskId": "../x"},
        META | {"taskId": new_task_id("dream")},
        META | {"clientId": "a b"},
        META | {"dryRun": "yes"},
    ],
)
def test_broken_meta_is_refused(meta: Any) -> None:
    with pytest.raises(CallRefused, match="Invalid params: Invalid memlane/task"):
        parse_meta({"_meta": {"memlane/task": meta}}, ["remember"])


def test_a_method_may_serve_tasks_of_several_kinds() -> None:
    meta = parse_meta({"_meta": {"memlane/task": META}}, ["dream", "remember"])

    assert meta is not None
    assert meta.task_id == TASK


@pytest.mark.parametrize(
    ("params", "told"),
    [
        ({}, "Invalid or missing query"),
        ({"query": ""}, "Invalid or missing query"),
        ({"query": "\u3000"}, "Invalid or missing query"),
        ({"query": 1}, "Invalid or missing query"),
        ({"query": "q" * 65_537}, "Query exceeds maximum size"),
        ({"query": "x", "scope": "team"}, "Invalid scope"),
        ({"query": "x", "scope": None}, "Invalid scope"),
    ],
)
def test_a_broken_forget_request_is_refused_in_the_recorded_words(params: dict[str, Any], told: str) -> None:
    with pytest.raises(CallRefused, match=f"^Invalid params: {told}$"):
        parse_forget(params, workspace="/w")


def test_a_forget_request_is_read() -> None:
    assert parse_forget({"query": "a\0b", "scope": "user"}, workspace="/w") == ForgetParams(
        query="a b", cwd="/w", scope="user"
    )


@pytest.mark.parametrize("scope", ["team", None, 5])
def test_a_dream_of_an_unknown_scope_is_refused(scope: Any) -> None:
    with pytest.raises(CallRefused, match=r"^Invalid params: Invalid scope$"):
        parse_dream({"scope": scope}, workspace="/w")


def test_a_dream_request_needs_nothing() -> None:
    assert parse_dream({"anything": "ignored"}, workspace="/w") == DreamParams(cwd="/w")


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


DOCUMENT = {"scope": "user", "path": "tea.md", "content": "Tea"}


def test_an_import_fails_over_other_documents_unless_it_says_otherwise() -> None:
    parsed = parse_import({"documents": [DOCUMENT], "cwd": "/elsewhere"}, workspace="/w")

    assert (parsed.cwd, parsed.conflict, parsed.skipped) == ("/w", "fail", 0)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"documents": [DOCUMENT] * (MAX_IMPORTED + 1)},
        {"documents": [DOCUMENT | {"scope": "all"}]},
        {"documents": [DOCUMENT | {"content": "\ud800"}]},
        {"documents": [DOCUMENT | {"path": "\udce9.md"}]},
        {"documents": [], "conflict": "ask"},
        {"documents": [], "skipped": -1},
    ],
    ids=["none", "too many", "no scope", "no text", "no name", "no policy", "no count"],
)
def test_documents_that_can_not_be_imported_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(CallRefused):
        parse_import(params, workspace="/w")
