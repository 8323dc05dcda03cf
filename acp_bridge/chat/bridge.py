"""Sessions of agent children, one child a working directory; all of it on one event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

from pydantic import ValidationError

from acp_bridge.chat import wire
from acp_bridge.chat.talk import ChatSession, ChatTalk, Listener
from acp_bridge.connection import Answer, Connection
from acp_bridge.environment import child_environment
from acp_bridge.errors import (
    AgentDied,
    AgentFailed,
    AgentKilled,
    AgentProtocolError,
    AgentTimeout,
    SessionBusy,
)
from acp_bridge.limits import Limits
from acp_bridge.methods import error_kind_of
from acp_bridge.process import Launch
from acp_bridge.workspace_agent import WorkspaceAgent
from core import acp, jsonrpc
from core.acp import Wire
from core.chat import AgentCommand, PermissionRequest, PromptImage
from core.errors import ConfigError, MemlaneError
from core.logs import get_logger

_Shape = TypeVar("_Shape", bound=Wire)

_SHARED_METHODS = frozenset({acp.SESSION_NEW, acp.SESSION_LOAD, acp.SESSION_PROMPT})

PermissionDecider = Callable[[PermissionRequest], Awaitable[str | None]]

_log = get_logger(__name__)


def open_chat_bridge(
    *, command: Sequence[str], environment: Mapping[str, str], idle_s: float, limits: Limits | None = None
) -> "ChatBridge":
    """Make a bridge; children are started when they are needed.

    Args:
        command: starts an agent child that speaks ACP over stdio; run in a session's working directory.
        environment: where children's variables are picked from, see ``child_environment``.
        idle_s: seconds after which a child without a prompt is stopped, and its sessions with it, > 0.

    Raises:
        ConfigError: the command is empty.
    """
    if not command:
        raise ConfigError("the agent command is empty")
    launch = Launch(tuple(command), child_environment(environment), limits or Limits())
    return ChatBridge(launch, idle_s=idle_s)


class ChatBridge:
    """What a channel needs of an agent: sessions, prompts, what is told meanwhile."""

    def __init__(self, launch: Launch, *, idle_s: float) -> None:
        """Use ``open_chat_bridge`` instead."""
        self._launch = launch
        self._idle_s = idle_s
        self._agents: dict[str, WorkspaceAgent] = {}
        self._talks: dict[Connection, ChatTalk] = {}
        self._listeners: list[Listener] = []
        self._decide: PermissionDecider = _deny
        self._is_closed = False

    async def new_session(self, cwd: str, *, mode: str | None = None, model: str | None = None) -> str:
        """Open a session and return its id.

        Args:
            cwd: absolute path.
            mode, model: what it shall be in and use; one that the agent does not offer is told in the log.

        Raises:
            AgentUnavailable, AgentDied, AgentTimeout, AgentKilled: no child answered. One that is too slow
                is ended, unless it is at work for another session.
            AgentFailed: the child opens none.
            AgentProtocolError: it answered in a shape that it must not, or with the id of another session.
        """
        async with self._agent(cwd).use() as connection:
            talk = self._talk_of(connection)
            params = {"cwd": cwd, "mcpServers": []}
            opened = _shaped(wire.Opened, await self._call(connection, acp.SESSION_NEW, params))
            if not opened.session_id or any(one.has_open(opened.session_id) for one in self._talks.values()):
                raise AgentProtocolError("the agent opened a session without an id of its own")
            session = talk.open(opened.session_id)
            for what, value in (("mode", mode), ("model", model)):
                if value is not None:
                    await self._choose(connection, opened, what, value=value)
            return session.id

    async def load_session(self, session_id: str, *, cwd: str) -> str:
        """Go on with a session of before and return its id.

        Raises:
            AgentFailed: the agent has it no more, or keeps none.
            AgentUnavailable, AgentDied, AgentTimeout, AgentKilled, AgentProtocolError: as ``new_session``.
        """
        async with self._agent(cwd).use() as connection:
            if not connection.loads_sessions:
                raise AgentFailed("session_not_found", details="the agent keeps no sessions")
            talk = self._talk_of(connection)
            params = {"sessionId": session_id, "cwd": cwd, "mcpServers": []}
            await self._call(connection, acp.SESSION_LOAD, params)
            return talk.open(session_id).id

    async def prompt(self, session_id: str, text: str, *, images: Sequence[PromptImage] = ()) -> str:
        """Have the agent answer, however long that takes; returns the whole text.

        One that was cancelled, or hit a limit of the agent's, returns what there was by then. When the caller
        is cancelled the agent is told to stop; the session is busy until it did, and what it still writes is
        told to nobody.

        Raises:
            SessionBusy: a prompt runs in this session.
            AgentDied: the child or the session is gone; listeners are told that the session died.
            AgentFailed: the agent says that it failed, or declined without a word.
            AgentKilled, AgentProtocolError: see ``new_session``.
        """
        connection, talk = self._holder_of(session_id)
        session = talk.sessions[session_id]
        if session.is_answering:
            raise SessionBusy(f"a prompt runs in session {session_id}")
        content = wire.prompt_content(text, images, takes_images=connection.takes_images)
        async with self._agent(connection.workspace).use():
            params = {"sessionId": session_id, "prompt": content}
            outcome = await _outcome_of(connection, session, params)
            if isinstance(outcome, jsonrpc.ErrorResponse) and wire.is_session_lost(outcome):
                talk.lose(session)
                raise AgentDied(f"the agent has session {session_id} no more", exit_code=None)
            stop_reason = _shaped(wire.Answered, _result_of(outcome)).stop_reason
        written = "".join(session.written)
        if stop_reason == "refusal" and not written:
            raise AgentFailed("refusal", details="the agent declined to answer")
        return written

    async def cancel_session(self, session_id: str) -> None:
        """Have the agent give up the prompt that runs in a session; requests for permission are denied.

        Raises:
            AgentDied: there is no such session any more.
        """
        connection, talk = self._holder_of(session_id)
        talk.sessions[session_id].call_off()
        connection.notify(acp.SESSION_CANCEL, {"sessionId": session_id})

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Have a listener hear of all sessions; returns what ends that."""
        self._listeners.append(listener)

        def stop() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return stop

    def decide_permissions_by(self, decide: PermissionDecider) -> None:
        """Have this asked whenever an agent wants permission; before that every request is denied."""
        self._decide = decide

    def commands(self, session_id: str | None = None) -> Sequence[AgentCommand]:
        """Slash commands of a session; without one those that were told last."""
        for talk in self._talks.values():
            if session_id is None and talk.last_commands:
                return talk.last_commands
            if session_id is not None and session_id in talk.sessions:
                return talk.sessions[session_id].commands
        return ()

    async def close(self) -> None:
        """Stop all children; running prompts raise ``AgentKilled``, and nothing can be started any more."""
        self._is_closed = True
        await asyncio.gather(*(agent.close() for agent in self._agents.values()))

    def _agent(self, cwd: str) -> WorkspaceAgent:
        if self._is_closed:
            raise AgentKilled("the bridge is closed")
        if cwd not in self._agents:
            agent = WorkspaceAgent(self._launch, cwd, idle_s=self._idle_s, on_idle=_let_be)
            self._agents[cwd] = agent
        return self._agents[cwd]

    def _talk_of(self, connection: Connection) -> ChatTalk:
        for gone in [one for one, talk in self._talks.items() if talk.has_ended]:
            del self._talks[gone]
        if connection not in self._talks:
            talk = ChatTalk(lambda: self._listeners, lambda request: self._decide(request))
            self._talks[connection] = talk
            connection.attach(talk)
        return self._talks[connection]

    def _holder_of(self, session_id: str) -> tuple[Connection, ChatTalk]:
        for connection, talk in self._talks.items():
            if talk.has_open(session_id) and self._is_kept(connection):
                return connection, talk
        raise AgentDied(f"session {session_id} is gone", exit_code=None)

    def _is_kept(self, connection: Connection) -> bool:
        # one that was idle for too long lives until its stop begins, and must not be given work any more
        return connection.alive and self._agents[connection.workspace].pid == connection.pid

    async def _call(self, connection: Connection, method: str, params: Mapping[str, Any]) -> Any:
        limit_s = self._launch.limits.start_s
        with connection.asking(method, params) as answer:
            await asyncio.wait({answer}, timeout=limit_s)
            if answer.done():
                return _result_of(answer.result())
        late = AgentTimeout(f"the agent did not answer within {limit_s:g} s")
        if not connection.is_running(_SHARED_METHODS):  # other sessions must not pay for this one
            connection.lose(late)
            await connection.stop()
        raise late

    async def _choose(self, connection: Connection, opened: wire.Opened, what: str, *, value: str) -> None:
        if not opened.offers(what, value):
            _log.warning("agent_choice_not_offered", choice=what, value=value)
            return
        params = {"sessionId": opened.session_id, f"{what}Id": value}
        await self._call(connection, f"session/set_{what}", params)


async def _outcome_of(
    connection: Connection, session: ChatSession, params: Mapping[str, Any]
) -> Answer | MemlaneError:
    """Send a prompt and wait for its answer, or for the connection's end."""
    with ExitStack() as asked:
        answer = asked.enter_context(connection.asking(acp.SESSION_PROMPT, params))
        session.begin(answer)
        try:
            await asyncio.wait({answer})
        except asyncio.CancelledError:
            session.is_heeded = False
            connection.notify(acp.SESSION_CANCEL, {"sessionId": session.id})
            unanswered = asked.pop_all()  # the agent works on it until it answers
            answer.add_done_callback(lambda _: unanswered.close())
            raise
        finally:
            session.call_off()
        return answer.result()


def _result_of(answer: Answer | MemlaneError) -> Any:
    if isinstance(answer, MemlaneError):
        raise answer
    if isinstance(answer, jsonrpc.ErrorResponse):
        raise AgentFailed(error_kind_of(answer) or f"code {answer.error_code}", details=answer.message)
    return answer.result


def _shaped(shape: type[_Shape], result: Any) -> _Shape:
    try:
        return shape.model_validate(result)
    except ValidationError:
        raise AgentProtocolError("the agent's answer has the wrong shape") from None


async def _deny(_request: PermissionRequest) -> str | None:
    return None


def _let_be() -> None:
    """A child that nobody uses goes when its time is up."""
