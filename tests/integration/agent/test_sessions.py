"""Sessions as a process serves them: beside memory calls, beside each other, and what is refused."""

from typing import Any

from agent.chat.calls import MAX_SESSIONS
from core import acp, jsonrpc
from tests.support.agent_child import AgentChild, StartChild
from tests.support.scripted_model import calls, document, says, silent, status

HELLO = [{"type": "text", "text": "Which tea?"}]


def new_session(child: AgentChild) -> str:
    opened = child.call(acp.SESSION_NEW, {"cwd": str(child.workspace), "mcpServers": []}, timeout_s=5)
    return str(opened["sessionId"])


def ask(child: AgentChild, session: str) -> int:
    return child.send(acp.SESSION_PROMPT, {"sessionId": session, "prompt": HELLO})


def listed(child: AgentChild) -> list[str]:
    return [one["sessionId"] for one in child.call(acp.SESSION_LIST, {}, timeout_s=5)["sessions"]]


def test_the_offline_child_answers_with_what_memory_holds(offline: AgentChild) -> None:
    offline.remember("Prefers green tea")

    answer = offline.answer(ask(offline, new_session(offline)))

    assert answer["stopReason"] == "end_turn"
    assert answer["_meta"]["memlane"]["usage"]["modelCalls"] == 2
    told = offline.notifications(acp.SESSION_UPDATE)
    said = "".join(
        one["update"]["content"]["text"]
        for one in told
        if one["update"]["sessionUpdate"] == "agent_message_chunk"
    )
    assert said.startswith("Offline model:")
    assert "(user): Prefers green tea" in said


def test_what_does_not_fit_is_refused_and_changes_nothing(offline: AgentChild) -> None:
    workspace, session = str(offline.workspace), new_session(offline)
    bad: list[tuple[str, dict[str, Any], int]] = [
        (acp.SESSION_NEW, {"mcpServers": []}, -32602),
        (acp.SESSION_NEW, {"cwd": "/", "mcpServers": []}, -32602),
        (acp.SESSION_NEW, {"cwd": workspace}, -32602),
        (acp.SESSION_PROMPT, {"prompt": HELLO}, -32602),
        (acp.SESSION_PROMPT, {"sessionId": session, "prompt": []}, -32602),
        (acp.SESSION_PROMPT, {"sessionId": "session-1", "prompt": HELLO}, -32002),
        (acp.SESSION_CLOSE, {"sessionId": "session-1"}, -32002),
        (acp.SESSION_LIST, {"cursor": "x"}, -32602),
        (acp.AUTHENTICATE, {"methodId": "x"}, -32602),
        (acp.SESSION_LOAD, {"sessionId": session, "cwd": "/", "mcpServers": []}, -32602),
        (acp.SESSION_LOAD, {"sessionId": session, "cwd": workspace}, -32602),
        (acp.SESSION_LOAD, {"sessionId": "session-1", "cwd": workspace, "mcpServers": []}, -32002),
    ]
    for method, params, code in bad:
        answer = offline.call(method, params, timeout_s=5)
        assert isinstance(answer, jsonrpc.ErrorResponse), (method, params)
        assert answer.error_code == code, (method, params)
    for params in ({}, {"sessionId": "session-1"}):
        offline.send_line(jsonrpc.notification(acp.SESSION_CANCEL, params))

    assert listed(offline) == [session]


def test_prompts_and_memory_calls_do_not_wait_for_each_other(start_child: StartChild) -> None:
    def script(request: dict[str, Any]) -> Any:
        if "write_file" not in str(request["tools"]):
            return silent()
        path = f"{child.user_root}/user/short-answers.md"
        return calls(("write_file", {"file_path": path, "content": document()}))

    child, model = start_child(script)
    first, second = new_session(child), new_session(child)
    waiting = [ask(child, first), ask(child, second), ask(child, first)]
    assert model.requested.wait(20)

    assert child.remember("Prefers short answers")["revision"] == "r1"
    assert listed(child) == [first, second]  # and nobody who wrote a memory

    child.send_line(jsonrpc.notification(acp.CANCEL_REQUEST, {"requestId": waiting[1]}))
    assert child.answer(waiting[1], timeout_s=5)["stopReason"] == "cancelled"
    child.call(acp.SESSION_CLOSE, {"sessionId": first}, timeout_s=5)
    assert [child.answer(one, timeout_s=5)["stopReason"] for one in (waiting[0], waiting[2])] == [
        "cancelled",
        "cancelled",
    ]
    assert listed(child) == [second]


def test_a_prompt_whose_model_fails_says_why_and_the_session_goes_on(start_child: StartChild) -> None:
    child, _ = start_child([status(401), says("Green.")])
    session = new_session(child)

    failed = child.answer(ask(child, session))

    assert (failed.error_code, failed.data["errorKind"]) == (-32099, "model_rejected")
    assert child.answer(ask(child, session))["stopReason"] == "end_turn"


def test_there_are_only_so_many_sessions_and_prompts_of_each(start_child: StartChild) -> None:
    child, model = start_child(lambda _: silent())
    busy = new_session(child)
    running = ask(child, busy)
    assert model.requested.wait(20)
    for _ in range(4):
        ask(child, busy)
    assert child.answer(ask(child, busy), timeout_s=5).error_code == -32600

    idle = [new_session(child) for _ in range(MAX_SESSIONS)]

    assert listed(child) == [*reversed(idle[1:]), busy]
    child.send_line(jsonrpc.notification(acp.SESSION_CANCEL, {"sessionId": busy}))
    assert child.answer(running, timeout_s=5)["stopReason"] == "cancelled"


def test_the_end_of_input_ends_a_child_in_mid_prompt(start_child: StartChild) -> None:
    child, model = start_child([silent()])
    ask(child, new_session(child))
    assert model.requested.wait(20)

    assert child.close_stdin() == 0
    assert model.cut.wait(5)
