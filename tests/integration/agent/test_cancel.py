"""Calling calls off, before their turn and inside a model request; hearing how far they are."""

from typing import Any

from core import acp, jsonrpc
from core.ids import new_task_id
from tests.support.agent_child import (
    LANE,
    AgentChild,
    StartChild,
    assert_failed,
    remember_params,
    task_params,
)
from tests.support.scripted_model import Answer, Body, ScriptedModel, calls, document, endless, says, silent

WS = {"cwd": "/srv/ws2"}


def resolve_params(child: AgentChild, task: str) -> dict[str, Any]:
    return {"cwd": str(child.workspace), "taskId": task, "laneId": LANE, "fence": 1, "close": False}


def cancel(child: AgentChild, task: str) -> Any:
    return child.call(acp.CANCEL, {"taskId": task}, timeout_s=5)


def wait_for_request(model: ScriptedModel) -> None:
    assert model.requested.wait(20)
    model.requested.clear()


def test_a_task_that_is_called_off_lets_go_of_the_model_and_may_run_again(start_child: StartChild) -> None:
    child, model = start_child([silent(), endless(), says("No."), says("No.")])
    task = new_task_id("remember")
    for number in (1, 2):
        asked = child.send(acp.REMEMBER, remember_params(child, "Prefers tea", task=task))
        wait_for_request(model)

        assert cancel(child, task) == {"cancelling": True}

        assert_failed(child.answer(asked, timeout_s=5), "task_cancelled")
        assert model.cut.wait(5), number
        model.cut.clear()
    assert child.documents() == {}

    assert_failed(child.remember("Prefers tea", task=task), "remember_no_update")  # and not task_closed
    assert cancel(child, task) == {"cancelling": False}


def test_a_waiting_task_is_answered_at_once_and_never_begins(start_child: StartChild) -> None:
    child, model = start_child([silent()])
    running, waiting = new_task_id("remember"), new_task_id("dream")
    first = child.send(acp.REMEMBER, remember_params(child, "Prefers tea", task=running))
    wait_for_request(model)
    second = child.send(acp.DREAM, task_params(child, "dream", task=waiting))

    child.send_line(jsonrpc.notification(acp.CANCEL, {"taskId": waiting}))

    assert_failed(child.answer(second, timeout_s=5), "task_cancelled", method="dream")
    assert cancel(child, running) == {"cancelling": True}
    assert_failed(child.answer(first, timeout_s=5), "task_cancelled")
    assert len(model.requests) == 1


def test_a_request_that_is_called_off_by_its_id_gets_the_protocols_own_error(start_child: StartChild) -> None:
    child, model = start_child([silent()])
    running = child.send(acp.REMEMBER, {"content": "Prefers tea"} | WS)
    wait_for_request(model)
    waiting = child.send(acp.REMEMBER, {"content": "Prefers coffee"} | WS)

    for request_id in (waiting, running):
        child.send_line(jsonrpc.notification(acp.CANCEL_REQUEST, {"requestId": request_id}))
        answer = child.answer(request_id, timeout_s=5)

        assert (answer.error_code, answer.data["errorKind"]) == (-32800, "task_cancelled")
    assert child.documents() == {}


def test_whenever_a_task_is_called_off_its_answer_is_what_the_store_says(offline: AgentChild) -> None:
    for number in range(24):
        task = new_task_id("remember")
        asked = offline.send(acp.REMEMBER, remember_params(offline, f"Fact number {number}", task=task))
        for nonce in range(number * 4):  # each takes a moment, in which the task goes on
            offline.call(acp.PING, {"v": 1, "nonce": nonce})

        cancelling = cancel(offline, task)["cancelling"]

        answer = offline.answer(asked)
        recorded = offline.call(acp.RESOLVE, resolve_params(offline, task))["result"]
        if isinstance(answer, jsonrpc.ErrorResponse):
            assert_failed(answer, "task_cancelled")
            assert (cancelling, recorded) == (True, None)
        else:
            assert recorded["revision"] == answer["revision"]


def test_what_names_nothing_calls_nothing_off(start_child: StartChild) -> None:
    child, model = start_child([silent()])
    task = new_task_id("remember")
    running = child.send(acp.REMEMBER, remember_params(child, "Prefers tea", task=task))
    wait_for_request(model)

    for params in ({}, {"taskId": 5}, {"taskId": "remember-1"}):
        answer = child.call(acp.CANCEL, params, timeout_s=5)
        assert (answer.error_code, answer.message) == (-32602, "Invalid params: Invalid or missing taskId")
    for request_id in (None, True, running + 99):  # True is 1, but no id
        child.send_line(jsonrpc.notification(acp.CANCEL_REQUEST, {"requestId": request_id}))
    assert cancel(child, new_task_id("remember")) == {"cancelling": False}

    assert not model.cut.is_set()
    assert cancel(child, task) == {"cancelling": True}
    assert_failed(child.answer(running, timeout_s=5), "task_cancelled")


def test_a_task_tells_our_bridge_how_far_it_is_and_others_nothing(start_child: StartChild) -> None:
    def script(_request: Body) -> Answer:
        path = f"{child.user_root}/user/short-answers.md"
        return calls(("write_file", {"file_path": path, "content": document()}))

    child, _ = start_child(script)
    task = new_task_id("remember")

    child.remember("Prefers short answers", task=task)
    told = [acp.Progress.model_validate(params) for params in child.notifications(acp.PROGRESS)]
    child.call(acp.REMEMBER, {"content": "Prefers tea"} | WS)

    assert told[0] == acp.Progress(task_id=task, turn=1, max_turns=6)
    assert child.notifications(acp.PROGRESS) == []
