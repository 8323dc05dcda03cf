"""Listens to one child: what it writes in its sessions, and what it wants permission for."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from acp_bridge.chat import wire
from acp_bridge.talk import Reply
from core import acp, jsonrpc
from core.chat import AgentCommand, PermissionRequest, ToolCall
from core.errors import MemlaneError
from core.logs import get_logger

MAX_TEXT_CHARACTERS = 1024 * 1024
MAX_CALLS = 1_000
MAX_SESSIONS = 10_000  # that a child may name before they are opened
MAX_PERMISSIONS = 20

_log = get_logger(__name__)


class Listener(Protocol):
    """Hears of all sessions, in the order in which the child tells."""

    def text_chunk(self, session_id: str, chunk: str) -> None:
        """The agent wrote a piece of its answer."""
        ...

    def tool_call(self, session_id: str, call: ToolCall) -> None:
        """The agent uses a tool, or tells more of a use."""
        ...

    def session_died(self, session_id: str) -> None:
        """The session is no more."""
        ...


@dataclass(slots=True)
class ChatSession:
    """A session and the prompt that runs in it.

    Attributes:
        answer: of the running prompt; None while there is none.
        written: what the agent wrote in it so far.
        permissions: requests that wait for somebody to decide.
    """

    id: str
    answer: "asyncio.Future[Any] | None" = None
    written: list[str] = field(default_factory=list)
    size_characters: int = 0
    calls: dict[str, ToolCall] = field(default_factory=dict)
    commands: tuple[AgentCommand, ...] = ()
    permissions: "set[asyncio.Task[None]]" = field(default_factory=set)

    @property
    def is_answering(self) -> bool:
        """Whether a prompt runs that has no answer yet."""
        return self.answer is not None and not self.answer.done()

    def begin(self, answer: "asyncio.Future[Any]") -> None:
        """A prompt was sent."""
        self.answer = answer
        self.written.clear()
        self.size_characters = 0

    def deny_all(self) -> None:
        """Whoever was asked for permission need not answer any more: the answer is no."""
        for task in tuple(self.permissions):
            task.cancel()


class ChatTalk:
    """A ``Talk`` that keeps the sessions of one child."""

    def __init__(
        self,
        listeners: Callable[[], Iterable[Listener]],
        decide: Callable[[PermissionRequest], Any],
    ) -> None:
        """Bind who hears and who decides.

        Args:
            decide: asks for an option's id; an awaitable, whose None means that nobody decided.
        """
        self.sessions: dict[str, ChatSession] = {}
        self.last_commands: tuple[AgentCommand, ...] = ()
        self._listeners = listeners
        self._decide = decide

    def add(self, session_id: str) -> ChatSession:
        """Keep a session that was opened; what was told of it before counts."""
        return self.sessions.setdefault(session_id, ChatSession(session_id))

    def hear(self, notice: jsonrpc.Notification) -> bool:
        """See ``Talk``."""
        if notice.method != acp.SESSION_UPDATE:
            return False
        told = wire.read_update(notice.params)
        if told is not None and (told.session_id in self.sessions or len(self.sessions) < MAX_SESSIONS):
            self._take(self.add(told.session_id), told)
        return True

    def asked(self, request: jsonrpc.Request, reply: Reply) -> bool:
        """See ``Talk``."""
        if request.method != acp.REQUEST_PERMISSION:
            return False
        params = request.params
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        session = self.sessions.get(session_id) if isinstance(session_id, str) else None
        wanted = wire.read_permission(params, session.calls if session is not None else {})
        if session is None or wanted is None or not session.is_answering or self._is_full(session):
            reply(jsonrpc.response(request.id, wire.CANCELLED))
            return True
        task = asyncio.create_task(self._answer(request, wanted, reply))
        session.permissions.add(task)
        task.add_done_callback(session.permissions.discard)
        return True

    def ended(self) -> None:
        """See ``Talk``."""
        sessions, self.sessions = self.sessions, {}
        for session in sessions.values():
            session.deny_all()
            for listener in tuple(self._listeners()):
                listener.session_died(session.id)

    @staticmethod
    def _is_full(session: ChatSession) -> bool:
        return len(session.permissions) >= MAX_PERMISSIONS

    def _take(self, session: ChatSession, told: wire.SessionUpdate) -> None:
        update = told.update
        match update.session_update:
            case "agent_message_chunk" if session.is_answering and update.text:
                self._take_text(session, update.text)
            case "tool_call" | "tool_call_update" if session.is_answering:
                self._take_call(session, update.merged(session.calls))
            case "available_commands_update":
                session.commands = self.last_commands = wire.read_commands(update.available_commands)

    def _take_text(self, session: ChatSession, text: str) -> None:
        room = MAX_TEXT_CHARACTERS - session.size_characters
        session.size_characters += len(text)
        if len(text) > room:
            if room > 0:
                _log.warning("agent_answer_too_long", max_characters=MAX_TEXT_CHARACTERS)
            text = text[: max(0, room)]
        if text:
            session.written.append(text)
            for listener in tuple(self._listeners()):
                listener.text_chunk(session.id, text)

    def _take_call(self, session: ChatSession, call: ToolCall) -> None:
        session.calls[call.id] = call
        if len(session.calls) > MAX_CALLS:
            del session.calls[next(iter(session.calls))]
        for listener in tuple(self._listeners()):
            listener.tool_call(session.id, call)

    async def _answer(self, request: jsonrpc.Request, wanted: PermissionRequest, reply: Reply) -> None:
        outcome = wire.CANCELLED
        try:
            option_id = await self._decide(wanted)
            if option_id in {option.id for option in wanted.options}:
                outcome = wire.chosen(option_id)
        except MemlaneError as error:
            _log.warning("permission_not_decided", reason=error.code)
        finally:  # also when it was called off: the agent waits for an answer
            reply(jsonrpc.response(request.id, outcome))
