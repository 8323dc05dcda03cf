"""An agent that wants permission: design page "Channel layer", and ACP's ``session/request_permission``."""

import asyncio
import json
import os
import signal

import pytest

from acp_bridge.errors import AgentDied, AgentFailed
from core.chat import ToolCall
from tests.support.channels.chat_bridging import on, steps


def test_permission_is_given_by_who_decides(tmp_path):
    async def test(bridge, heard, session):
        bridge.decide_permissions_by(heard.decide)
        call = {"toolCallId": "t", "kind": "execute", "title": "rm -r x"}
        answer = json.loads(await bridge.prompt(session, steps(["ask", call])))

        assert answer == {"outcome": {"outcome": "selected", "optionId": "yes"}}
        assert heard.asked[0].call == ToolCall("t", "execute", "rm -r x", "")
        assert [option.kind for option in heard.asked[0].options] == ["allow_once", "reject_once"]
        assert heard.asked[0].session_id == session

    on(tmp_path, test)


@pytest.mark.parametrize("decided", [None, "another"])
def test_without_a_decision_that_was_offered_permission_is_denied(tmp_path, decided):
    async def test(bridge, heard, session):
        async def decide(_request):
            return decided

        bridge.decide_permissions_by(decide)
        answer = json.loads(await bridge.prompt(session, steps(["ask", {"toolCallId": "t"}])))

        assert answer == {"outcome": {"outcome": "cancelled"}}

    on(tmp_path, test)


def test_without_anybody_to_decide_permission_is_denied(tmp_path):
    async def test(bridge, heard, session):
        answer = json.loads(await bridge.prompt(session, steps(["ask", {"toolCallId": "t"}])))

        assert answer == {"outcome": {"outcome": "cancelled"}}

    on(tmp_path, test)


@pytest.mark.parametrize("options", [[], [{"optionId": "x", "kind": "maybe"}], [{"kind": "allow_once"}]])
def test_a_request_for_permission_of_a_wrong_shape_is_denied(tmp_path, options):
    async def test(bridge, heard, session):
        bridge.decide_permissions_by(heard.decide)
        answer = json.loads(await bridge.prompt(session, steps(["ask", {"toolCallId": "t"}, options])))

        assert answer == {"outcome": {"outcome": "cancelled"}}
        assert heard.asked == []

    on(tmp_path, test)


def test_a_cancel_answers_who_waits_for_permission(tmp_path):
    async def test(bridge, heard, session):
        never = asyncio.get_running_loop().create_future()

        async def decide(request):
            await heard.decide(request)
            await never

        bridge.decide_permissions_by(decide)
        running = asyncio.create_task(bridge.prompt(session, steps(["ask", {"toolCallId": "t"}], ["wait"])))
        await heard.until(lambda: heard.asked)
        await bridge.cancel_session(session)
        await heard.until(lambda: heard.texts)

        assert json.loads(heard.texts[0]) == {"outcome": {"outcome": "cancelled"}}
        await bridge.cancel_session(session)
        await running

    on(tmp_path, test)


@pytest.mark.parametrize("error", [AgentFailed("x", details=""), ValueError("x")])
def test_where_the_decision_fails_permission_is_denied_and_the_prompt_goes_on(tmp_path, error):
    async def test(bridge, heard, session):
        async def decide(_request):
            raise error

        bridge.decide_permissions_by(decide)
        answer = json.loads(await bridge.prompt(session, steps(["ask", {"toolCallId": "t"}])))

        assert answer == {"outcome": {"outcome": "cancelled"}}

    on(tmp_path, test)


def test_nobody_is_asked_for_a_prompt_that_was_cancelled(tmp_path):
    async def test(bridge, heard, session):
        bridge.decide_permissions_by(heard.decide)
        told = steps(["say", "a"], ["wait"], ["ask", {"toolCallId": "t"}])
        running = asyncio.create_task(bridge.prompt(session, told))
        await heard.until(lambda: heard.texts)
        await bridge.cancel_session(session)

        assert json.loads((await running)[1:]) == {"outcome": {"outcome": "cancelled"}}
        assert heard.asked == []
        assert "selected" in await bridge.prompt(session, steps(["ask", {"toolCallId": "t"}]))

    on(tmp_path, test)


def test_a_child_that_is_killed_while_somebody_decides_ends_the_prompt_and_the_question(tmp_path):
    async def test(bridge, heard, session):
        called_off = asyncio.Event()

        async def decide(request):
            await heard.decide(request)
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                called_off.set()

        bridge.decide_permissions_by(decide)
        running = asyncio.create_task(bridge.prompt(session, steps(["ask", {"toolCallId": "t"}])))
        await heard.until(lambda: heard.asked)
        os.kill(int(session.partition("-")[0]), signal.SIGKILL)

        with pytest.raises(AgentDied):
            await running
        await called_off.wait()

    on(tmp_path, test)
