"""The child's wire against the reference's, and its manners as a process."""

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from core import acp, jsonrpc
from core.jsonrpc import ErrorResponse
from tests.support.agent_child import AgentChild, StartChild, agent_child
from tests.support.scripted_model import MODEL_NAME, silent

WS = {"cwd": "/srv/ws2"}
INVALID_CONTENT = (-32602, "Invalid params: Invalid or missing content", None)
INVALID_SCOPE = (-32602, "Invalid params: Invalid scope", None)
INVALID_MODE = (-32602, "Invalid params: Invalid contextMode", None)
INVALID_PING = (-32602, "Invalid params: Invalid channel liveness ping", None)
TOO_LONG = (-32602, "Invalid params: Content exceeds maximum size", None)


def unknown(method: str) -> tuple[int, str, dict[str, str]]:
    return -32601, f'"Method not found": {method}', {"method": method}


# recorded from the reference child
RECORDED: list[tuple[str, dict[str, Any], tuple[int, str, Any]]] = [
    (f"_{acp.AVAILABILITY}", WS, unknown(f"_{acp.AVAILABILITY}")),
    ("qwen/control/workspace/memory/nope", WS, unknown("qwen/control/workspace/memory/nope")),
    ("totally/unknown", {}, unknown("totally/unknown")),
    (acp.REMEMBER, WS, INVALID_CONTENT),
    (acp.REMEMBER, {"content": ""} | WS, INVALID_CONTENT),
    (acp.REMEMBER, {"content": "  "} | WS, INVALID_CONTENT),
    (acp.REMEMBER, {"content": 5} | WS, INVALID_CONTENT),
    (acp.REMEMBER, {"content": None} | WS, INVALID_CONTENT),
    (acp.REMEMBER, {"content": "x" * 65_537} | WS, TOO_LONG),
    (acp.REMEMBER, {"content": "x", "contextMode": "bad"} | WS, INVALID_MODE),
    (acp.REMEMBER, {"content": "x", "contextMode": 5} | WS, INVALID_MODE),
    (acp.REMEMBER, {"content": "x", "scope": "team"} | WS, INVALID_SCOPE),
    (acp.REMEMBER, {"content": "x", "scope": None} | WS, INVALID_SCOPE),
    (acp.PING, {"v": 2, "nonce": 7}, INVALID_PING),
    (acp.PING, {"v": 1, "nonce": -1}, INVALID_PING),
    (
        acp.INITIALIZE,
        {},
        (
            -32603,
            "Internal error",
            [
                {
                    "expected": "number",
                    "code": "invalid_type",
                    "path": ["protocolVersion"],
                    "message": "Invalid input: expected number, received undefined",
                }
            ],
        ),
    ),
]


def test_bad_requests_get_the_recorded_errors(offline: AgentChild) -> None:
    for method, params, expected in RECORDED:
        answer = offline.call(method, params)

        assert (answer.error_code, answer.message, answer.data) == expected, (method, str(params)[:80])
    assert offline.documents() == {}


def test_missing_params_are_an_internal_error_as_recorded(offline: AgentChild) -> None:
    for message_id, method in ((901, acp.AVAILABILITY), (902, acp.REMEMBER)):
        offline.send_line(b'{"jsonrpc":"2.0","id":%d,"method":"%s"}\n' % (message_id, method.encode()))

        answer = offline.answer(message_id)
        assert (answer.error_code, answer.message) == (-32603, "Internal error")


def test_junk_is_skipped_and_the_next_request_is_answered(offline: AgentChild) -> None:
    for junk in (b"{not json\n", b"[]\n", b'{"jsonrpc":"2.0","id":900}\n', b"\n", b"123\n", b"\xff\xfe\n"):
        offline.send_line(junk)
    offline.send_line(jsonrpc.notification("memlane/unknown", {}))

    assert offline.call(acp.PING, {"v": 1, "nonce": 8}) == {"v": 1, "nonce": 8}


def test_a_request_id_may_be_text(offline: AgentChild) -> None:
    offline.send_line(jsonrpc.request("seven", acp.PING, {"v": 1, "nonce": 0}))

    assert offline.answer("seven") == {"v": 1, "nonce": 0}


def test_initialize_says_who_we_are_and_what_we_serve(offline: AgentChild) -> None:
    answer = offline.call(
        acp.INITIALIZE,
        {"protocolVersion": 1, "clientCapabilities": {}, "clientInfo": {"name": "t", "version": "0"}},
    )

    assert answer["protocolVersion"] == 1
    assert answer["agentInfo"]["name"] == "memlane-agent"
    assert answer["authMethods"] == []
    ours = answer["agentCapabilities"]["_meta"]["memlane"]
    assert (ours["v"], ours["model"]) == (1, "offline")
    assert acp.RESOLVE in ours["methods"]
    assert len(ours["storeId"]) == 36


def test_a_configured_model_is_named(start_child: StartChild) -> None:
    child, _ = start_child([])

    answer = child.call(acp.INITIALIZE, {"protocolVersion": 1})

    assert answer["agentCapabilities"]["_meta"]["memlane"]["model"] == MODEL_NAME


def test_memory_is_available_while_its_base_exists(tmp_path: Path) -> None:
    with agent_child(tmp_path) as child:
        assert child.call(acp.AVAILABILITY, WS) == {"available": True}
        child.base.rename(tmp_path / "gone")

        assert child.call(acp.AVAILABILITY, WS) == {"available": False}
        answer = child.call(acp.INITIALIZE, {"protocolVersion": 1})
        assert "storeId" not in answer["agentCapabilities"]["_meta"]["memlane"]
        failed = child.remember("Prefers tea")
        assert (failed.error_code, failed.data["errorKind"]) == (-32009, "managed_memory_unavailable")


def test_the_end_of_input_ends_an_idle_child(offline: AgentChild) -> None:
    offline.call(acp.PING, {"v": 1, "nonce": 1})

    assert offline.close_stdin() == 0


def test_the_end_of_input_ends_a_child_in_mid_task_and_nothing_is_written(start_child: StartChild) -> None:
    child, model = start_child([silent()])
    child.send(acp.REMEMBER, {"content": "Prefers tea"} | WS)
    assert model.requested.wait(20)

    assert child.close_stdin() == 0

    assert model.cut.wait(5)
    assert child.documents() == {}


def test_a_ping_is_answered_while_a_task_runs(start_child: StartChild) -> None:
    child, model = start_child([silent()])
    child.send(acp.REMEMBER, {"content": "Prefers tea"} | WS)
    assert model.requested.wait(20)

    assert child.call(acp.PING, {"v": 1, "nonce": 5}, timeout_s=5) == {"v": 1, "nonce": 5}
    assert child.call(acp.AVAILABILITY, WS, timeout_s=5) == {"available": True}


def test_too_many_waiting_calls_are_refused_at_once(start_child: StartChild) -> None:
    child, model = start_child([silent()])
    child.send(acp.REMEMBER, {"content": "Prefers tea"} | WS)
    assert model.requested.wait(20)
    for _ in range(64):
        child.send(acp.REMEMBER, {"content": "Prefers tea"} | WS)

    answer = child.call(acp.REMEMBER, {"content": "Prefers tea"} | WS, timeout_s=5)

    assert answer.data == {"errorKind": "remember_failed", "details": "Too many calls are waiting"}


def test_a_line_over_the_limit_ends_the_child(offline: AgentChild) -> None:
    with suppress(BrokenPipeError):  # it may leave before it has read all of it
        offline.send_line(b"x" * (jsonrpc.MAX_FRAME_BYTES + 100_000))

    assert offline.wait() == 1
    assert "frame_too_large" in offline.log


def test_sigterm_ends_the_child(offline: AgentChild) -> None:
    offline.call(acp.PING, {"v": 1, "nonce": 1})

    os.kill(offline.pid, signal.SIGTERM)

    assert offline.wait() == -signal.SIGTERM


@pytest.mark.parametrize("folder", ["core", "memory", "agent"])
def test_the_workspaces_own_modules_are_not_imported(tmp_path: Path, folder: str) -> None:
    trap = tmp_path / "workspace" / folder
    trap.mkdir(parents=True)
    (trap / "__init__.py").write_text("raise SystemExit('imported from the workspace')")

    with agent_child(tmp_path) as child:
        assert not isinstance(child.remember("Prefers tea"), ErrorResponse)
