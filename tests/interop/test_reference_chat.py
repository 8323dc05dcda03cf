"""Chat sessions of the real `qwen --acp`, whose model says what the test wants."""

import asyncio
import os
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from acp_bridge.chat.bridge import ChatBridge, open_chat_bridge
from acp_bridge.errors import AgentFailed
from core.chat import PermissionRequest
from tests.support.channels.chat_bridging import Heard
from tests.support.reference import Script, command, write_quiet_settings
from tests.support.scripted_model import calls, says, scripted_model, silent

pytestmark = pytest.mark.interop

LIMIT_S = 90


@dataclass(slots=True)
class Chat:
    """A bridge to the reference's child, and the folder that it works in.

    Attributes:
        open_another: makes a bridge to a child with the same home folder.
    """

    bridge: ChatBridge
    open_another: Callable[[], ChatBridge]
    heard: Heard
    script: Script
    folder: Path
    asked: list[PermissionRequest] = field(default_factory=list)

    def decide_by(self, kind: str | None) -> None:
        """Have each request for permission answered by its option of this kind; None for no answer."""

        async def decide(request: PermissionRequest) -> str | None:
            self.asked.append(request)
            return next((option.id for option in request.options if option.kind == kind), None)

        self.bridge.decide_permissions_by(decide)

    def wants_to_run(self, line: str) -> None:
        """Have the model use the shell, and then say something."""
        arguments = {"command": line, "description": "tries it", "is_background": False}
        self.script.answers[:] = [calls(("run_shell_command", arguments)), says("I tried.")]


@asynccontextmanager
async def chatting(folder: Path) -> AsyncIterator[Chat]:
    places, script, workspace = folder / "places", Script(), folder / "workspace"
    workspace.mkdir()
    write_quiet_settings(folder)
    with scripted_model(script) as model:
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **model.settings}

        def open_bridge() -> ChatBridge:
            return open_chat_bridge(command=command(places), environment=environment, idle_s=LIMIT_S)

        bridge = open_bridge()
        heard = Heard()
        bridge.subscribe(heard)
        try:
            async with asyncio.timeout(LIMIT_S):
                yield Chat(bridge, open_bridge, heard, script, workspace)
        finally:
            await bridge.close()


async def test_a_prompt_is_answered_and_told_in_pieces(tmp_path):
    async with chatting(tmp_path) as chat:
        chat.script.answers[:] = [says("Green tea.")]
        session = await chat.bridge.new_session(str(chat.folder))

        assert await chat.bridge.prompt(session, "Which tea?") == "Green tea."
        assert "".join(chat.heard.texts) == "Green tea."
        while not chat.bridge.commands(session):  # it tells of them in its own time
            await chat.bridge.prompt(session, "And?")
        assert "init" in {one.name for one in chat.bridge.commands(session)}


@pytest.mark.parametrize("kind", ["allow_once", "reject_once", None])
async def test_a_command_runs_only_if_it_is_permitted(tmp_path, kind):
    async with chatting(tmp_path) as chat:
        chat.decide_by(kind)
        chat.wants_to_run("touch made")
        session = await chat.bridge.new_session(str(chat.folder))
        await chat.bridge.prompt(session, "Try it.")

        assert (chat.folder / "made").exists() == (kind == "allow_once")
        assert [request.session_id for request in chat.asked] == [session]
        assert "touch made" in chat.asked[0].call.title


async def test_a_mode_that_the_agent_offers_is_taken(tmp_path):
    async with chatting(tmp_path) as chat:
        chat.decide_by(None)
        chat.wants_to_run("touch made")
        session = await chat.bridge.new_session(str(chat.folder), mode="yolo", model="unheard-of")
        await chat.bridge.prompt(session, "Try it.")

        assert (chat.folder / "made").exists()
        assert chat.asked == []


async def test_a_prompt_that_is_cancelled_returns_and_the_session_goes_on(tmp_path):
    async with chatting(tmp_path) as chat:
        chat.script.answers[:] = [calls(("list_directory", {"path": str(chat.folder)})), silent()]
        session = await chat.bridge.new_session(str(chat.folder))
        running = asyncio.create_task(chat.bridge.prompt(session, "Look."))
        await chat.heard.until(lambda: chat.heard.calls)
        await chat.bridge.cancel_session(session)
        await running

        chat.script.answers[:] = [says("Here.")]
        assert await chat.bridge.prompt(session, "Still there?") == "Here."


async def test_a_session_is_gone_on_with_by_another_child_unless_it_was_never_there(tmp_path):
    async with chatting(tmp_path) as chat:
        session = await chat.bridge.new_session(str(chat.folder))
        await chat.bridge.prompt(session, "I like green tea.")
        await chat.bridge.close()
        another = chat.open_another()
        try:
            with pytest.raises(AgentFailed):
                await another.load_session(str(uuid.UUID(int=7)), cwd=str(chat.folder))
            assert await another.load_session(session, cwd=str(chat.folder)) == session
            chat.script.answers[:] = [says("Green.")]
            assert await another.prompt(session, "Which tea?") == "Green."
        finally:
            await another.close()
