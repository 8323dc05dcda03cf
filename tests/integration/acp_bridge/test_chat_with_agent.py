"""Chat sessions of our own agent child, on its offline model."""

import sys
from contextlib import asynccontextmanager

import pytest

from acp_bridge.errors import AgentDied
from agent.chat.calls import MAX_SESSIONS
from tests.support.agent_child import agent_child, child_environment
from tests.support.channels.chat_bridging import bridged

WORDS = [sys.executable, "-P", "-m", "memlane", "agent"]


@asynccontextmanager
async def chatting(path, *remembered):
    """A bridge to our agent whose memory holds this, who listens, and the workspace."""
    with agent_child(path) as child:
        for fact in remembered:
            child.remember(fact)
        workspace, base = child.workspace, child.base
    async with bridged(words=WORDS, environment=child_environment(base, {})) as (bridge, heard):
        yield bridge, heard, str(workspace)


async def test_our_agent_answers_a_chat_with_what_memory_holds(tmp_path):
    async with chatting(tmp_path, "Prefers green tea") as (bridge, heard, workspace):
        session = await bridge.new_session(workspace)
        answer = await bridge.prompt(session, "Which tea?")

    assert "Prefers green tea" in answer
    assert "".join(heard.texts) == answer
    assert {call.kind for call in heard.calls} <= {"read", "search"}
    assert heard.calls[-1].status == "completed"


async def test_a_session_that_our_agent_gave_up_for_a_newer_one_is_told_dead_when_it_is_prompted(tmp_path):
    async with chatting(tmp_path) as (bridge, heard, workspace):
        oldest, *others = [await bridge.new_session(workspace) for _ in range(MAX_SESSIONS + 1)]
        with pytest.raises(AgentDied):
            await bridge.prompt(oldest, "Hello?")

        assert heard.died == [oldest]
        assert await bridge.prompt(others[0], "Hello?")
