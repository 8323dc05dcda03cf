"""An agent that does what the test says, when it says so."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.chat import AgentCommand, PromptImage, ToolCall
from core.errors import DependencyError


class AgentFailure(DependencyError):
    code = "test_agent_failure"


@dataclass(slots=True)
class ScriptedPrompt:
    session_id: str
    text: str
    images: tuple[PromptImage, ...]
    answer: "asyncio.Future[str]"


class ScriptedBridge:
    """Prompts wait for the test; sessions and cancellations succeed at once unless they are held."""

    def __init__(self):
        self.sessions: list[str] = []
        self.cwds: list[tuple[str, str | None, str | None]] = []
        self.prompts: list[ScriptedPrompt] = []
        self.cancelled: list[str] = []
        self.loaded: list[str] = []
        self.known_commands: Sequence[AgentCommand] = ()
        self.openings: list[asyncio.Future[str]] | None = None  # None: at once
        self.verdicts: list[asyncio.Future[None]] | None = None
        self.refuses_cancel = False
        self.lost_sessions: set[str] = set()
        self.renamed: dict[str, str] = {}
        self._listeners: list[Any] = []
        self.most_prompts_at_once = 0

    async def new_session(self, cwd, *, mode=None, model=None):
        self.cwds.append((cwd, mode, model))
        if self.openings is not None:
            opening = asyncio.get_running_loop().create_future()
            self.openings.append(opening)
            return await opening
        self.sessions.append(f"s{len(self.sessions) + 1}")
        return self.sessions[-1]

    async def load_session(self, session_id, *, cwd):
        self.loaded.append(session_id)
        if session_id in self.lost_sessions:
            raise AgentFailure("no such session")
        return self.renamed.get(session_id, session_id)

    async def prompt(self, session_id, text, *, images=()):
        prompt = ScriptedPrompt(session_id, text, tuple(images), asyncio.get_running_loop().create_future())
        self.prompts.append(prompt)
        running = [one for one in self.prompts if one.session_id == session_id and not one.answer.done()]
        self.most_prompts_at_once = max(self.most_prompts_at_once, len(running))
        return await prompt.answer

    async def cancel_session(self, session_id):
        self.cancelled.append(session_id)
        if self.verdicts is not None:
            verdict = asyncio.get_running_loop().create_future()
            self.verdicts.append(verdict)
            await verdict
        if self.refuses_cancel:
            raise AgentFailure("not now")

    def subscribe(self, listener) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def decide_permissions_by(self, decide):
        self.decide = decide

    def commands(self, session_id=None):
        return self.known_commands

    def write(self, text, *, session_id=None):
        """Have the agent write a piece in the session prompted last."""
        for listener in list(self._listeners):
            listener.text_chunk(session_id or self.prompts[-1].session_id, text)

    def use_tool(self, *, session_id=None, **facts):
        call = ToolCall(**{"id": "t1", "kind": "read", "title": "Read a file", "status": "pending"} | facts)
        for listener in list(self._listeners):
            listener.tool_call(session_id or self.prompts[-1].session_id, call)

    def die(self, session_id, *, reason="the agent died"):
        for prompt in self.prompts:
            if prompt.session_id == session_id and not prompt.answer.done():
                prompt.answer.set_exception(AgentFailure(reason))
        for listener in list(self._listeners):
            listener.session_died(session_id)

    def answer(self, text, *, number=-1):
        self.prompts[number].answer.set_result(text)

    def fail(self, reason, *, number=-1):
        self.prompts[number].answer.set_exception(AgentFailure(reason))
