"""Sessions of agent children, one child a working directory; all of it on one event loop."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from acp_bridge.chat import wire
from acp_bridge.chat.talk import ChatSession, ChatTalk, Listener
from acp_bridge.connection import Answer, Connection
from acp_bridge.environment import child_environment
from acp_bridge.errors import AgentDied, AgentFailed, AgentProtocolError, SessionBusy
from acp_bridge.limits import Limits
from acp_bridge.process import Launch
from acp_bridge.workspace_agent import WorkspaceAgent
from core import acp, jsonrpc
from core.acp import Wire
from core.chat import AgentCommand, PermissionRequest, PromptImage
from core.errors import ConfigError, MemlaneError
from core.logs import get_logger

_Shape = TypeVar("_Shape", bound=Wire)

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

    async def new_session(self, cwd: str, *, mode: str | None = None, model: str | None = None) -> str:
        """Open a session and return its id.

        Args:
            cwd: absolute path.
            mode, model: what it shall be in and use; one that the agent does not offer is told in the log.

        Raises:
            AgentUnavailable, AgentDied, AgentTimeout, AgentKilled: no child answered.
            AgentFailed: the child opens none.
            AgentProtocolError: it answered in a shape that it must not.
        """
        async with self._agent(cwd).use() as connection:
            talk = self._talk_of(connection)
            params = {"cwd": cwd, "mcpServers": []}
            opened = _shaped(wire.Opened, await self._call(connection, acp.SESSION_NEW, params))
            if not opened.session_id:
                raise AgentProtocolError("the agent opened a session without an id")
            session = talk.add(opened.session_id)
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
            params = {"sessionId": session_id, "cwd": cwd, "mcpServers": []}
            await self._call(connection, acp.SESSION_LOAD, params)
            return self._talk_of(connection).add(session_id).id

    async def prompt(self, session_id: str, text: str, *, images: Sequence[PromptImage] = ()) -> str:
        """Have the agent answer, however long that takes; returns the whole text.

        One that was cancelled, or hit a limit of the agent's, returns what there was by then. When the caller
        is cancelled the agent is told to stop.

        Raises:
            SessionBusy: a prompt runs in this session.
            AgentDied: the child or the session is gone.
            AgentFailed: the agent says that it failed, or declined without a word.
            AgentKilled, AgentProtocolError: see ``new_session``.
        """
        connection, session = self._find(session_id)
        if session.is_answering:
            raise SessionBusy(f"a prompt runs in session {session_id}")
        content = wire.prompt_content(text, images, takes_images=connection.takes_images)
        async with self._agent(connection.workspace).use():
            params = {"sessionId": session_id, "prompt": content}
            with connection.asking(acp.SESSION_PROMPT, params) as answer:
                session.begin(answer)
                try:
                    await asyncio.wait({answer})
                except asyncio.CancelledError:
                    connection.notify(acp.SESSION_CANCEL, {"sessionId": session_id})
                    session.answer = None
                    raise
                finally:
                    session.deny_all()
                outcome = answer.result()
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
        connection, session = self._find(session_id)
        session.deny_all()
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
        await asyncio.gather(*(agent.close() for agent in self._agents.values()))

    def _agent(self, cwd: str) -> WorkspaceAgent:
        if cwd not in self._agents:
            agent = WorkspaceAgent(self._launch, cwd, idle_s=self._idle_s, on_idle=_let_be)
            self._agents[cwd] = agent
        return self._agents[cwd]

    def _talk_of(self, connection: Connection) -> ChatTalk:
        for gone in [one for one in self._talks if not one.alive]:
            del self._talks[gone]
        if connection not in self._talks:
            talk = ChatTalk(lambda: self._listeners, lambda request: self._decide(request))
            self._talks[connection] = talk
            connection.attach(talk)
        return self._talks[connection]

    def _find(self, session_id: str) -> tuple[Connection, ChatSession]:
        for connection, talk in self._talks.items():
            if session_id in talk.sessions and connection.alive:
                return connection, talk.sessions[session_id]
        raise AgentDied(f"session {session_id} is gone", exit_code=None)

    async def _call(self, connection: Connection, method: str, params: Mapping[str, Any]) -> Any:
        answer = await connection.call(method, params, limit_s=self._launch.limits.start_s)
        return _result_of(answer)

    async def _choose(self, connection: Connection, opened: wire.Opened, what: str, *, value: str) -> None:
        if not opened.offers(what, value):
            _log.warning("agent_choice_not_offered", choice=what, value=value)
            return
        params = {"sessionId": opened.session_id, f"{what}Id": value}
        await self._call(connection, f"session/set_{what}", params)


def _result_of(answer: Answer | MemlaneError) -> Any:
    if isinstance(answer, MemlaneError):
        raise answer
    if isinstance(answer, jsonrpc.ErrorResponse):
        raise AgentFailed(f"code {answer.error_code}", details=answer.message)
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
