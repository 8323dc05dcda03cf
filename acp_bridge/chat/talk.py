"""Listens to one child: what it writes in its sessions, and what it wants permission for."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from acp_bridge.chat import wire
from acp_bridge.errors import AgentDied
from acp_bridge.talk import Reply
from core import acp, jsonrpc
from core.chat import AgentCommand, PermissionRequest, ToolCall
from core.errors import MemlaneError
from core.logs import get_logger

MAX_TEXT_CHARACTERS = 1024 * 1024
MAX_CALLS = 1_000  # that are remembered of a session
MAX_TOLD_CALLS = 10_000  # of one prompt, each further word on a call counted
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
        is_open: whether the child has answered that there is such a session; it may tell of one before.
        answer: of the last prompt; None before the first.
        is_heeded: whether somebody still wants to hear of that prompt.
        is_called_off: whether that prompt may have nothing permitted any more.
        written: what the agent wrote in it so far.
        told_calls: how often it told of tool calls in it.
        permissions: requests that wait for somebody to decide.
    """

    id: str
    is_open: bool = False
    answer: "asyncio.Future[Any] | None" = None
    is_heeded: bool = False
    is_called_off: bool = False
    written: list[str] = field(default_factory=list)
    size_characters: int = 0
    told_calls: int = 0
    calls: dict[str, ToolCall] = field(default_factory=dict)
    commands: tuple[AgentCommand, ...] = ()
    permissions: "set[asyncio.Task[str | None]]" = field(default_factory=set)

    @property
    def is_answering(self) -> bool:
        """Whether a prompt runs that has no answer yet, be it one that nobody waits for any more."""
        return self.answer is not None and not self.answer.done()

    @property
    def is_heard(self) -> bool:
        """Whether what the agent tells now belongs to a prompt that somebody waits for."""
        return self.is_answering and self.is_heeded

    def begin(self, answer: "asyncio.Future[Any]") -> None:
        """A prompt was sent."""
        self.answer = answer
        self.is_heeded, self.is_called_off = True, False
        self.written.clear()
        self.size_characters = self.told_calls = 0

    def call_off(self) -> None:
        """Deny what the prompt asked permission for, and whatever it will ask."""
        self.is_called_off = True
        for task in tuple(self.permissions):
            task.cancel()


class ChatTalk:
    """A ``Talk`` that keeps the sessions of one child.

    Attributes:
        has_ended: whether the child is gone and everybody was told so.
    """

    def __init__(
        self,
        listeners: Callable[[], Iterable[Listener]],
        decide: Callable[[PermissionRequest], Awaitable[str | None]],
    ) -> None:
        """Bind who hears and who decides.

        Args:
            decide: asks for an option's id; None means that nobody decided.
        """
        self.sessions: dict[str, ChatSession] = {}
        self.last_commands: tuple[AgentCommand, ...] = ()
        self.has_ended = False
        self._listeners = listeners
        self._decide = decide

    def open(self, session_id: str) -> ChatSession:
        """Keep a session that was opened; what was told of it before counts.

        Raises:
            AgentDied: the child ended just then; nobody will be told that the session died.
        """
        if self.has_ended:
            raise AgentDied("the agent died after it opened a session", exit_code=None)
        session = self._named(session_id)
        session.is_open = True
        return session

    def has_open(self, session_id: str) -> bool:
        """Whether there is such a session, and the child has said so."""
        return session_id in self.sessions and self.sessions[session_id].is_open

    def lose(self, session: ChatSession) -> None:
        """Forget a session that the child has no more, and tell everybody."""
        if self.sessions.pop(session.id, None) is not None:
            self._tell_dead(session)

    def hear(self, notice: jsonrpc.Notification) -> bool:
        """See ``Talk``."""
        if notice.method != acp.SESSION_UPDATE:
            return False
        told = wire.read_update(notice.params)
        if told is not None and (told.session_id in self.sessions or len(self.sessions) < MAX_SESSIONS):
            self._take(self._named(told.session_id), told)
        return True

    def asked(self, request: jsonrpc.Request, reply: Reply) -> bool:
        """See ``Talk``."""
        if request.method != acp.REQUEST_PERMISSION:
            return False
        params = request.params
        session_id = params.get("sessionId") if isinstance(params, dict) else None
        session = self.sessions.get(session_id) if isinstance(session_id, str) else None
        wanted = wire.read_permission(params, session.calls if session is not None else {})
        if session is None or wanted is None or not self._may_ask(session):
            reply(jsonrpc.response(request.id, wire.CANCELLED))
            return True
        task = asyncio.create_task(self._decided(wanted))
        session.permissions.add(task)
        task.add_done_callback(session.permissions.discard)
        # not in the task, which never runs if it is called off at once: the agent waits for an answer
        task.add_done_callback(lambda done: reply(jsonrpc.response(request.id, _outcome_of(done))))
        return True

    def ended(self) -> None:
        """See ``Talk``."""
        self.has_ended = True
        sessions, self.sessions = self.sessions, {}
        for session in sessions.values():
            self._tell_dead(session)

    def _named(self, session_id: str) -> ChatSession:
        return self.sessions.setdefault(session_id, ChatSession(session_id))

    def _tell_dead(self, session: ChatSession) -> None:
        session.call_off()
        if session.is_open:
            for listener in tuple(self._listeners()):
                listener.session_died(session.id)

    @staticmethod
    def _may_ask(session: ChatSession) -> bool:
        has_room = len(session.permissions) < MAX_PERMISSIONS
        return session.is_heard and not session.is_called_off and has_room

    def _take(self, session: ChatSession, told: wire.SessionUpdate) -> None:
        update = told.update
        match update.session_update:
            case "agent_message_chunk" if session.is_heard and update.text:
                self._take_text(session, update.text)
            case "tool_call" | "tool_call_update" if session.is_heard:
                self._take_call(session, update.merged(session.calls))
            case "available_commands_update":
                session.commands = self.last_commands = wire.read_commands(update.available_commands)

    def _take_text(self, session: ChatSession, text: str) -> None:
        room = MAX_TEXT_CHARACTERS - session.size_characters
        session.size_characters += len(text)
        if len(text) > room:
            if room >= 0:
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
        session.told_calls += 1
        if session.told_calls > MAX_TOLD_CALLS:
            if session.told_calls == MAX_TOLD_CALLS + 1:
                _log.warning("agent_tells_of_too_many_calls", max_calls=MAX_TOLD_CALLS)
            return
        for listener in tuple(self._listeners()):
            listener.tool_call(session.id, call)

    async def _decided(self, wanted: PermissionRequest) -> str | None:
        option_id = await self._decide(wanted)
        return option_id if option_id in {option.id for option in wanted.options} else None


def _outcome_of(decided: "asyncio.Task[str | None]") -> Mapping[str, Any]:
    if decided.cancelled():
        return wire.CANCELLED
    error = decided.exception()
    if error is not None:
        reason = error.code if isinstance(error, MemlaneError) else type(error).__name__
        _log.warning("permission_not_decided", reason=reason)
        return wire.CANCELLED
    option_id = decided.result()
    return wire.CANCELLED if option_id is None else wire.chosen(option_id)
