"""Chat sessions of our own agent child, on its offline model."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from acp_bridge.chat.bridge import open_chat_bridge
from tests.support.agent_child import agent_child, child_environment


def test_our_agent_answers_a_chat_with_what_memory_holds(tmp_path: Path) -> None:
    with agent_child(tmp_path) as child:
        child.remember("Prefers green tea")
        workspace, base = child.workspace, child.base
    environment = child_environment(base, {})
    told: list[Any] = []

    class Heard:
        def text_chunk(self, session_id, chunk):
            told.append(chunk)

        def tool_call(self, session_id, call):
            told.append(call)

        def session_died(self, session_id):
            told.append(session_id)

    async def run() -> str:
        words = [sys.executable, "-P", "-m", "memlane", "agent"]
        bridge = open_chat_bridge(command=words, environment=environment, idle_s=60)
        bridge.subscribe(Heard())
        try:
            session = await bridge.new_session(str(workspace))
            return await bridge.prompt(session, "Which tea?")
        finally:
            await bridge.close()

    answer = asyncio.run(run())

    assert "Prefers green tea" in answer
    assert "".join(piece for piece in told if isinstance(piece, str)).startswith(answer)
    calls = [piece for piece in told if not isinstance(piece, str)]
    assert {call.kind for call in calls} <= {"read", "search"}
    assert calls[-1].status == "completed"
