"""Session calls on their way through the child: read, put in line, answered by a thread for each session."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

from agent.cancellation import CalledOff, Cancellation
from agent.chat.answering import MemoryPlace, Update, answer_prompt
from agent.chat.prompt import read_prompt
from agent.chat.requests import parse_content, parse_cwd, parse_filter, parse_servers, parse_session_id
from agent.chat.session import Prompt, Session
from agent.chat.sessions import Sessions
from agent.chat.updates import said_before
from agent.failure_log import log_failure
from agent.failures import failure_of_prompt
from agent.models.interface import ChatModel
from agent.outlet import Outlet
from agent.requests import CallRefused, params_object
from core import acp, jsonrpc
from core.clock import rfc3339
from core.ids import new_session_id
from memory.errors import StoreUnusable

MAX_SESSIONS = 128


class SessionCalls:
    """Serves the session methods; whoever reads the requests calls, on one thread.

    Prompts of one session are answered one after the other, those of different ones at the same time.
    """

    def __init__(self, place: MemoryPlace, outlet: Outlet, *, open_model: Callable[[], ChatModel]) -> None:
        """Open nothing yet.

        Args:
            open_model: makes the model of a session.
        """
        self._place = place
        self._outlet = outlet
        self._open_model = open_model
        self._sessions = Sessions(MAX_SESSIONS)

    @property
    def is_busy(self) -> bool:
        """Whether a prompt is being answered or waits."""
        return any(session.line.is_busy for session in self._sessions)

    def open_session(self, params: dict[str, Any]) -> dict[str, Any]:
        """Open a session; beyond the most there may be, another one is closed for it.

        Raises:
            CallRefused: the params don't fit.
        """
        cwd = parse_cwd(params, workspace=self._place.workspace)
        offered = parse_servers(params)
        session = Session(new_session_id(), cwd=cwd, model=self._open_model())
        evicted = self._sessions.add(session)
        if evicted is not None:
            self._end(evicted)
        threading.Thread(target=self._serve, args=(session,), name=session.id, daemon=True).start()
        return {"sessionId": session.id} | _ignored(offered)

    def load_session(self, params: dict[str, Any]) -> dict[str, Any]:
        """Tell what was said in a session so far, the oldest first; it goes on from there.

        Sessions live as long as this process does.

        Raises:
            CallRefused: the params don't fit, or there is no such session (any more).
        """
        parse_cwd(params, workspace=self._place.workspace)
        offered = parse_servers(params)
        session = self._sessions.find(parse_session_id(params))
        for message in session.history():
            self._tell(session, said_before(message))
        return _ignored(offered)

    def take(self, request: jsonrpc.Request) -> None:
        """Put a prompt in line; its answer follows.

        Raises:
            CallRefused: its params don't fit, there is no such session, or too many of its prompts wait.
        """
        params = params_object(request.params)
        session = self._sessions.find(parse_session_id(params))
        prompt = Prompt(request, read_prompt(parse_content(params)), Cancellation())
        if not session.line.put(prompt):
            raise CallRefused(jsonrpc.INVALID_REQUEST, "Too many prompts of this session are waiting")
        session.touch(prompt.text)

    def list_sessions(self, params: dict[str, Any]) -> dict[str, Any]:
        """List the sessions, the most recently used one first.

        Raises:
            CallRefused: the params don't fit.
        """
        are_meant = parse_filter(params, workspace=self._place.workspace)
        return {"sessions": [_described(session) for session in self._sessions if are_meant]}

    def cancel_prompts(self, params: dict[str, Any]) -> None:
        """Call off every prompt of a session.

        Raises:
            CallRefused: there is no such session.
        """
        self._withdraw(self._sessions.find(parse_session_id(params)), lambda _: True, named="task")

    def cancel_request(self, request_id: int | str) -> None:
        """Call off a prompt by the id of its request."""
        for session in self._sessions:
            self._withdraw(session, lambda prompt: prompt.request.id == request_id, named="request")

    def close_session(self, params: dict[str, Any]) -> dict[str, Any]:
        """Close a session; its prompts are called off.

        Raises:
            CallRefused: there is no such session.
        """
        session = self._sessions.find(parse_session_id(params))
        self._sessions.remove(session)
        self._end(session)
        return {}

    def _end(self, session: Session) -> None:
        self._withdraw(session, lambda _: True, named="task")
        session.line.close()

    def _withdraw(self, session: Session, is_meant: Callable[[Prompt], bool], *, named: CalledOff) -> None:
        for prompt in session.line.withdraw(is_meant, named=named).waiting:
            self._outlet.send(jsonrpc.response(prompt.request.id, {"stopReason": "cancelled"}))

    def _serve(self, session: Session) -> None:
        while (prompt := session.line.take()) is not None:
            line = self._answer_to(prompt, session)
            session.line.finish()
            self._outlet.send(line)
        session.model.close()

    def _answer_to(self, prompt: Prompt, session: Session) -> bytes:
        tell = partial(self._tell, session)
        try:
            answer = answer_prompt(prompt, session, self._place, tell=tell)
        except Exception as error:  # noqa: BLE001 - outermost frame of the child's threads
            log_failure(acp.SESSION_PROMPT, error, kind="prompt_failed")
            return _failed(prompt, error)
        ours = {acp.CAPABILITY_META: {"usage": answer.usage.to_wire()}}
        return jsonrpc.response(prompt.request.id, {"stopReason": answer.stop_reason, "_meta": ours})

    def _tell(self, session: Session, update: Update) -> None:
        params = {"sessionId": session.id, "update": update}
        self._outlet.send(jsonrpc.notification(acp.SESSION_UPDATE, params))


def _ignored(servers: int) -> dict[str, Any]:
    # a command that a client names is never run here; it is told so
    return {"_meta": {acp.CAPABILITY_META: {"mcpServersIgnored": servers}}} if servers else {}


def _described(session: Session) -> dict[str, Any]:
    title = {} if session.title is None else {"title": session.title}
    return {"sessionId": session.id, "cwd": session.cwd, "updatedAt": rfc3339(session.updated_ms)} | title


def _failed(prompt: Prompt, error: Exception) -> bytes:
    return jsonrpc.error_response(
        prompt.request.id,
        error_code=acp.UNAVAILABLE if isinstance(error, StoreUnusable) else acp.TASK_FAILED,
        message="The prompt could not be answered",
        data=failure_of_prompt(error),
    )
