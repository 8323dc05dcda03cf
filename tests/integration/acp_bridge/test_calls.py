import json
from typing import Any

import pytest
from structlog.testing import capture_logs

from acp_bridge.bridge import open_bridge
from acp_bridge.errors import AgentFailed, AgentProtocolError, AgentUnavailable
from core import acp
from core.errors import ConfigError
from core.memory_calls import MemoryCall, RememberParams, RememberResult


def seen_by_child(result: RememberResult) -> Any:
    return json.loads(result.summary)


def test_remember_returns_what_the_child_answered(open_desk):
    desk = open_desk()

    result = desk.remember()

    assert result.files_touched == ["/m/a.md"]
    assert result.touched_scopes == ["user"]
    assert result.usage is None


def test_the_child_runs_in_the_workspace_with_only_the_allowed_environment(open_desk, monkeypatch):
    monkeypatch.setenv("MEMLANE_TOKEN", "secret")
    monkeypatch.setenv("OPENAI_MODEL", "m")
    desk = open_desk()

    seen = seen_by_child(desk.remember())

    assert seen["cwd"] == str(desk.path)
    assert "MEMLANE_TOKEN" not in seen["environment"]
    assert {"OPENAI_MODEL", "QWEN_CODE_NO_RELAUNCH"} <= set(seen["environment"])


def test_our_own_child_is_told_which_task_it_is(open_desk):
    seen = seen_by_child(open_desk().remember())

    assert seen["params"]["_meta"]["memlane/task"] == {
        "taskId": "remember-1",
        "laneId": "test/lane",
        "fence": 7,
        "timeoutMs": 20_000,
        "attempt": 1,
        "dryRun": False,
    }


def test_a_foreign_child_never_sees_our_meta_and_its_unknown_keys_are_ignored(open_desk):
    desk = open_desk("Foreign")

    result = desk.remember()

    assert seen_by_child(result)["params"] == {
        "content": "a fact",
        "cwd": str(desk.path),
        "contextMode": "workspace",
    }
    assert result.usage is None


def test_what_a_foreign_child_cannot_serve_goes_to_a_child_of_ours(open_desk):
    desk = open_desk("Foreign")

    result = desk.undo()

    assert result.summary == "Took r7 back."
    assert len(desk.pids()) == 2


def test_a_foreign_child_is_not_asked_for_a_preview_because_it_would_write(open_desk):
    desk = open_desk("Foreign")
    params = RememberParams(content="a fact", cwd=str(desk.path))
    desk.watch_taken()

    with pytest.raises(AgentFailed) as refusal:
        desk.run(MemoryCall(acp.REMEMBER, params, RememberResult), dry_run=True)

    assert refusal.value.error_kind == "agent_unsupported"
    assert desk.available()  # it would block on the pipe if it had been asked


def test_usage_is_read_from_our_own_child(open_desk):
    result = open_desk("Costly").remember()

    assert result.usage == acp.Usage(input_tokens=3, output_tokens=0, model_calls=1)


def test_a_warm_child_serves_the_next_call(open_desk):
    desk = open_desk()

    desk.remember()
    desk.remember()

    assert len(desk.pids()) == 1
    assert desk.bridge.children() == {str(desk.path): desk.leaders()[0]}


def test_available_asks_the_child(open_desk):
    assert open_desk().available() is True
    assert open_desk("Unavailable").available() is False


def test_an_availability_of_the_wrong_shape_is_a_protocol_error(open_desk):
    with pytest.raises(AgentProtocolError, match="available"):
        open_desk("VaguelyAvailable").available()


def test_a_child_that_remembers_counts_as_available_without_being_asked(open_desk, caller):
    desk = open_desk("Deaf", availability_s=0.1)
    desk.watch_taken()
    running = caller.submit(desk.remember)
    desk.wait_taken()

    assert desk.available() is True

    desk.kill()
    assert running.exception(10) is not None


@pytest.mark.parametrize(
    ("error", "kind", "details"),
    [
        ({"code": -32099, "data": {"errorKind": "remember_failed", "details": "x"}}, "remember_failed", "x"),
        ({"code": -32099, "data": {"errorKind": "ERR_UNHANDLED_ERROR"}}, "ERR_UNHANDLED_ERROR", "because"),
        ({"code": -32009}, "managed_memory_unavailable", "because"),
        ({"code": -32603}, "unspecified", "because"),
        ({"code": -32099, "data": {"errorKind": 5}}, "unspecified", "because"),
        ({"code": -32099, "data": [1]}, "unspecified", "because"),
        ({"code": -32099, "data": {"errorKind": "k" * 100, "details": "d" * 3000}}, "k" * 64, "d" * 2000),
    ],
)  # fmt: skip
def test_the_childs_own_error_keeps_its_kind_and_the_child_stays(open_desk, error, kind, details):
    desk = open_desk("AnswersAsTold")

    with pytest.raises(AgentFailed) as caught:
        desk.remember(json.dumps({"error": error | {"message": "because"}}))

    assert (caught.value.error_kind, caught.value.details) == (kind, details)
    assert details not in str(caught.value)
    assert list(desk.bridge.children().values()) == desk.leaders()


@pytest.mark.parametrize(
    ("data", "fence"),
    [({"storedFence": 12}, 12), ({}, None), ({"storedFence": "12"}, None), ({"storedFence": True}, None)],
)
def test_a_child_of_ours_may_say_which_fence_the_store_holds(open_desk, data, fence):
    error = {"code": -32099, "message": "late", "data": {"errorKind": "lease_lost"} | data}

    with pytest.raises(AgentFailed) as caught:
        open_desk("AnswersAsTold").remember(json.dumps({"error": error}))

    assert (caught.value.error_kind, caught.value.stored_fence) == ("lease_lost", fence)


@pytest.mark.parametrize(
    ("usage", "told"),
    [({"modelCalls": 2}, acp.Usage(model_calls=2)), (None, None), ("much", None), ({"modelCalls": -1}, None)],
)
def test_a_child_of_ours_may_say_what_a_failed_task_cost(open_desk, usage, told):
    error = {"code": -32099, "message": "no", "data": {"errorKind": "remember_no_update", "usage": usage}}

    with pytest.raises(AgentFailed) as caught:
        open_desk("AnswersAsTold").remember(json.dumps({"error": error}))

    assert caught.value.usage == told


def test_a_foreign_child_has_no_say_about_fences_and_cost(open_desk):
    data = {"errorKind": "lease_lost", "storedFence": 2**62, "usage": {"modelCalls": 2}}
    error = {"code": -32099, "message": "late", "data": data}

    with pytest.raises(AgentFailed) as caught:
        open_desk("ForeignAsTold").remember(json.dumps({"error": error}))

    assert (caught.value.stored_fence, caught.value.usage) == (None, None)


def good(**changes: Any) -> dict[str, Any]:
    return {"summary": "s", "filesTouched": [], "touchedScopes": []} | changes


@pytest.mark.parametrize(
    ("result", "place"),
    [
        (None, "result"),
        ([], "result"),
        ({"summary": "secret fact"}, "touchedScopes"),
        (good(summary=5), "summary"),
        (good(summary="x" * 20_001), "summary"),
        (good(filesTouched="a.md"), "filesTouched"),
        (good(filesTouched=[1]), "filesTouched"),
        (good(touchedScopes=["team"]), "touchedScopes"),
        (good(usage={"inputTokens": -1}), "usage.inputTokens"),
        (good(usage={"inputTokens": 1e400}), "usage.inputTokens"),
    ],
)
def test_a_result_of_the_wrong_shape_is_a_protocol_error_that_quotes_nothing(open_desk, result, place):
    desk = open_desk("AnswersAsTold")

    with pytest.raises(AgentProtocolError, match=place) as caught:
        desk.remember(json.dumps({"result": result}))

    assert "secret" not in str(caught.value)
    assert list(desk.bridge.children().values()) == desk.leaders()


@pytest.mark.parametrize("result", [[], good(summary=5)])
def test_a_foreign_child_must_keep_to_the_contract_too(open_desk, result):
    with pytest.raises(AgentProtocolError):
        open_desk("ForeignAsTold").remember(json.dumps({"result": result}))


def test_a_foreign_child_cannot_claim_what_only_ours_may_say(open_desk):
    result = good(recovered=True, revision="r1")

    result = open_desk("ForeignAsTold").remember(json.dumps({"result": result}))

    assert (result.recovered, result.revision) == (False, None)


def test_resolve_asks_a_fresh_process_that_is_gone_afterwards(open_desk):
    desk = open_desk("ExitsAtStart")

    result = desk.resolve().result

    assert result["asked"] == {
        "cwd": str(desk.path),
        "taskId": "remember-1",
        "laneId": "test/lane",
        "fence": 7,
        "close": True,
    }
    assert desk.bridge.children() == {}
    assert len(desk.pids()) == 1


def test_an_empty_command_is_refused():
    with pytest.raises(ConfigError):
        open_bridge(command=[], own_command=["x"], environment={}, idle_s=1)


@pytest.mark.parametrize("program", ["no-such-program-here", "/etc/passwd"])
def test_a_command_that_cannot_be_executed_leaves_the_bridge_usable(tmp_path, program):
    bridge = open_bridge(command=[program], own_command=[program], environment={"PATH": "/bin"}, idle_s=1)
    try:
        for _ in range(2):
            with pytest.raises(AgentUnavailable):
                bridge.available(str(tmp_path))
        assert bridge.children() == {}
    finally:
        bridge.close()


def test_a_workspace_that_is_gone_is_unavailable(open_desk):
    desk = open_desk()

    with pytest.raises(AgentUnavailable):
        desk.remember(path=desk.path / "gone")


def test_request_text_never_reaches_the_log(open_desk):
    desk = open_desk("SaysJunk")

    with capture_logs() as logs:
        desk.remember("the vault code is 4711")

    assert logs
    assert "4711" not in repr(logs)
