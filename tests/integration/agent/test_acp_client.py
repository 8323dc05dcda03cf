"""The child as an ACP agent, driven by a client of another maker that holds each message to the schema."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import AgentMessageChunk, McpServerStdio, ToolCallProgress, ToolCallStart, UserMessageChunk

from tests.support.agent_child import child_environment
from tests.support.scripted_model import calls, document, endless, says, scripted_model


class Editor:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.updates: list[Any] = []

    async def session_update(self, session_id: str, update: Any, **_rest: Any) -> None:
        self.updates.append(update)

    def on_connect(self, conn: Any) -> None:
        """Nothing to do."""

    @property
    def said(self) -> str:
        return "".join(one.content.text for one in self.updates if isinstance(one, AgentMessageChunk))


TEA = "base/memories/user/tea.md"

Connected = tuple[Any, Editor]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a ``workspace``, and a memory ``base`` that holds one document."""
    home = tmp_path.resolve()
    for folder in (home / "workspace", home / "base" / "memories" / "user"):
        folder.mkdir(parents=True)
    (home / TEA).write_text(document(name="Tea", body="Prefers green tea."))
    return home


@asynccontextmanager
async def editor_on(place: Path, environment: dict[str, str]) -> AsyncIterator[Connected]:
    """An editor, connected to a child that ends well when its input does."""
    editor: Any = Editor()  # a client may leave out the methods that its agent never calls
    command = (sys.executable, "-P", "-m", "memlane", "agent")
    environment = child_environment(place / "base", environment)
    async with acp.spawn_agent_process(editor, *command, env=environment, cwd=place / "workspace") as (
        child,
        process,
    ):
        yield child, editor
        assert process.stdin is not None
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 10) == 0


def test_a_prompt_is_answered_with_what_the_model_says_and_reads(place: Path) -> None:
    tea = str(place / TEA)
    script = [calls(("read_file", {"file_path": tea}), text="Let me look."), says("Green tea, says tea.md.")]

    async def converse() -> None:
        with scripted_model(script) as model:
            async with editor_on(place, model.settings) as (child, editor):
                hello = await child.initialize(protocol_version=7)
                assert (hello.protocol_version, hello.agent_capabilities.load_session) == (1, True)
                server = McpServerStdio(name="files", command="/bin/false", args=[], env=[])
                opened = await child.new_session(cwd=str(place / "workspace"), mcp_servers=[server])
                answer = await child.prompt(
                    prompt=[acp.text_block("Which tea do I like?")], session_id=opened.session_id
                )

                assert answer.stop_reason == "end_turn"
                assert editor.said == "Let me look.\n\nGreen tea, says tea.md."
                (begun,) = [one for one in editor.updates if isinstance(one, ToolCallStart)]
                assert (begun.kind, begun.status) == ("read", "in_progress")
                assert [one.path for one in begun.locations or ()] == [tea]
                (ended,) = [one for one in editor.updates if isinstance(one, ToolCallProgress)]
                assert (ended.tool_call_id, ended.status) == (begun.tool_call_id, "completed")
                assert "Prefers green tea." in str(ended.content)
                assert model.tool_names() == ["read_file", "grep_search", "list_directory"]
                editor.updates.clear()
                await child.load_session(
                    cwd=str(place / "workspace"), session_id=opened.session_id, mcp_servers=[]
                )
                assert [type(one) for one in editor.updates] == [UserMessageChunk, AgentMessageChunk]
                assert editor.said.endswith("Green tea, says tea.md.")
                (listed,) = (await child.list_sessions()).sessions
                assert (listed.session_id, listed.title) == (opened.session_id, "Which tea do I like?")

    asyncio.run(converse())


def test_a_prompt_can_be_cancelled_while_the_model_speaks_and_the_session_goes_on(place: Path) -> None:
    async def converse() -> None:
        with scripted_model([endless(), says("Here I am.")]) as model:
            async with editor_on(place, model.settings) as (child, editor):
                await child.initialize(protocol_version=1)
                opened = await child.new_session(cwd=str(place / "workspace"), mcp_servers=[])
                session = opened.session_id
                asked = asyncio.ensure_future(child.prompt(session, [acp.text_block("Hello?")]))
                await asyncio.to_thread(model.requested.wait, 20)

                await child.cancel(session_id=session)

                assert (await asked).stop_reason == "cancelled"
                assert await asyncio.to_thread(model.cut.wait, 5)
                answer = await child.prompt(session, [acp.text_block("Still there?")])
                assert (answer.stop_reason, editor.said) == ("end_turn", "Here I am.")
                await child.close_session(session)
                with pytest.raises(acp.RequestError, match="Session not found"):
                    await child.prompt(session, [acp.text_block("And now?")])
                with pytest.raises(acp.RequestError, match="Unknown methodId"):
                    await child.authenticate("any")
                with pytest.raises(acp.RequestError, match="not found"):
                    await child.load_session(cwd=str(place / "workspace"), session_id=session, mcp_servers=[])

    asyncio.run(converse())
