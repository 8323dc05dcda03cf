"""The agent child: ACP on standard input and output.

One thread reads and answers what takes no time (so that a ping is answered while a task
runs), one worker thread serves the memory calls one after the other, one thread for each
session its prompts.
"""

import os
from typing import TYPE_CHECKING, Any

from agent.chat.answering import MemoryPlace
from agent.chat.calls import SessionCalls
from agent.chat.requests import refuse_authentication
from agent.failure_log import log_failure
from agent.memory_calls import MemoryCalls
from agent.models.choice import open_chat_model, open_fast_model, open_model
from agent.outlet import Outlet, take_stdout
from agent.requests import (
    CallRefused,
    check_initialize,
    internal_error,
    method_not_found,
    params_object,
    parse_cancel,
    parse_cancel_request,
    parse_ping,
)
from agent.service import MemoryService
from core import acp, jsonrpc
from core.logs import get_logger
from core.settings import ModelSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

READ_BYTES = 65_536

_log = get_logger(__name__)


def serve(settings: Settings, model_settings: ModelSettings) -> int:
    """Serve the workspace that is the current folder until standard input ends.

    The end of input ends the process at once, in mid-task too: then nothing of the task was
    committed, or all of it.

    Returns:
        Exit code: 0 at the end of input, 1 when the client broke the protocol.
    """
    outlet = Outlet(take_stdout())
    service = MemoryService(
        settings,
        workspace=os.path.realpath("."),
        model=open_model(model_settings),
        fast_model=open_fast_model(model_settings),
    )
    place = MemoryPlace(settings.memory_base, service.workspace, service.policy, local=settings.memory_local)
    sessions = SessionCalls(place, outlet, open_model=lambda: open_chat_model(model_settings))
    server = AgentServer(service, sessions, outlet)
    code = server.run(0)
    if server.is_busy:
        os._exit(code)  # the interpreter's own end would wait for what the task still does
    return code


class AgentServer:
    """Takes messages in arrival order and answers each request exactly once."""

    def __init__(self, service: MemoryService, sessions: SessionCalls, outlet: Outlet) -> None:
        self._service = service
        self._sessions = sessions
        self._outlet = outlet
        self._memory = MemoryCalls(service, outlet)
        self._at_once: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            acp.INITIALIZE: self._initialize,
            acp.PING: self._ping,
            acp.AVAILABILITY: self._availability,
            acp.CANCEL: self._cancel,
            acp.AUTHENTICATE: refuse_authentication,
            acp.SESSION_NEW: sessions.open_session,
            acp.SESSION_LOAD: sessions.load_session,
            acp.SESSION_LIST: sessions.list_sessions,
            acp.SESSION_CLOSE: sessions.close_session,
        }
        self._in_turn: dict[str, Callable[[jsonrpc.Request], None]] = {
            **dict.fromkeys(self._memory.methods, self._memory.take),
            acp.SESSION_PROMPT: sessions.take,
        }
        self._told: dict[str, Callable[[dict[str, Any]], object]] = {
            acp.CANCEL: self._cancel,
            acp.CANCEL_REQUEST: self._cancel_request,
            acp.SESSION_CANCEL: sessions.cancel_prompts,
        }

    @property
    def is_busy(self) -> bool:
        """Whether a memory call or a prompt is running or waiting."""
        return self._memory.is_busy or self._sessions.is_busy

    def run(self, descriptor: int) -> int:
        """Serve until the input ends; returns the exit code."""
        self._memory.start()
        splitter = jsonrpc.LineSplitter()
        while chunk := os.read(descriptor, READ_BYTES):
            try:
                lines = splitter.feed(chunk)
            except jsonrpc.FrameTooLarge as error:
                _log.error("frame_too_large", limit=str(error))
                return 1
            for line in lines:
                self._take(jsonrpc.parse(line))
        return 0

    def _take(self, message: jsonrpc.Message) -> None:
        match message:
            case jsonrpc.Request():
                self._take_request(message)
            case jsonrpc.Notification():
                self._take_notification(message)
            case _:
                _log.debug("message_skipped", kind=type(message).__name__)

    def _take_request(self, request: jsonrpc.Request) -> None:
        try:
            self._dispatch(request)
        except CallRefused as refused:
            self._refuse(request, refused)
        except Exception as error:  # noqa: BLE001 - outermost frame of the child's threads
            log_failure(request.method, error, kind="internal")
            self._refuse(request, internal_error(type(error).__name__))

    def _take_notification(self, notification: jsonrpc.Notification) -> None:
        act = self._told.get(notification.method)
        try:
            if act is not None:
                act(params_object(notification.params))
        except CallRefused as refused:  # nobody waits for an answer
            _log.debug("notification_refused", method=notification.method, code=refused.error_code)

    def _dispatch(self, request: jsonrpc.Request) -> None:
        at_once, in_turn = self._at_once.get(request.method), self._in_turn.get(request.method)
        if at_once is not None:
            result = at_once(params_object(request.params))
            self._outlet.send(jsonrpc.response(request.id, result))
        elif in_turn is not None:
            in_turn(request)
        else:
            raise method_not_found(request.method)

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        check_initialize(params)
        return self._service.describe()

    def _ping(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"v": 1, "nonce": parse_ping(params)}

    def _availability(self, _params: dict[str, Any]) -> dict[str, Any]:
        return {"available": self._service.is_available()}

    def _cancel(self, params: dict[str, Any]) -> dict[str, Any]:
        cancelling = self._memory.cancel_task(parse_cancel(params))
        return acp.CancelResult(cancelling=cancelling).to_wire()

    def _cancel_request(self, params: dict[str, Any]) -> None:
        request_id = parse_cancel_request(params)
        self._memory.cancel_request(request_id)
        self._sessions.cancel_request(request_id)

    def _refuse(self, request: jsonrpc.Request, refused: CallRefused) -> None:
        line = jsonrpc.error_response(
            request.id, error_code=refused.error_code, message=str(refused), data=refused.payload
        )
        self._outlet.send(line)
