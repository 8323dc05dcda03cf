"""The agent child: ACP on standard input and output.

One thread reads and answers what takes no time (so that a ping is answered while a task
runs), one worker thread serves the memory calls one after the other.
"""

import os
import queue
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.deadline import Deadline
from agent.failures import Failure, failure_of
from agent.models.choice import open_model
from agent.outlet import Outlet, take_stdout
from agent.remember import COMMIT_RESERVE_MS
from agent.requests import (
    CallRefused,
    check_initialize,
    method_not_found,
    params_object,
    parse_ping,
    parse_remember,
    parse_resolve,
)
from agent.service import MemoryService
from core import acp, jsonrpc
from core.errors import MemlaneError
from core.logs import get_logger
from core.settings import ModelSettings, Settings
from memory.errors import StoreUnusable

MAX_WAITING_CALLS = 64
READ_BYTES = 65_536
QUIET_S = 0.05  # before the history is brought further: the next call may be on its way

_log = get_logger(__name__)

_FAILURE_MESSAGES = {
    acp.REMEMBER: "Workspace memory remember failed",
    acp.RESOLVE: "Workspace memory resolve failed",
}


def serve(settings: Settings, model_settings: ModelSettings) -> int:
    """Serve the workspace that is the current folder until standard input ends.

    The end of input ends the process at once, in mid-task too: then nothing of the task was
    committed, or all of it.

    Returns:
        Exit code: 0 at the end of input, 1 when the client broke the protocol.
    """
    outlet = Outlet(take_stdout())
    service = MemoryService(settings, workspace=os.path.realpath("."), model=open_model(model_settings))
    server = AgentServer(service, outlet)
    code = server.run(0)
    if server.is_busy:
        os._exit(code)  # the interpreter's own end would wait for what the task still does
    return code


@dataclass(frozen=True, slots=True)
class _Waiting:
    request: jsonrpc.Request
    work: Callable[[], dict[str, Any]]


class AgentServer:
    """Takes messages in arrival order and answers each request exactly once."""

    def __init__(self, service: MemoryService, outlet: Outlet) -> None:
        self._service = service
        self._outlet = outlet
        self._waiting: queue.Queue[_Waiting] = queue.Queue(MAX_WAITING_CALLS)
        self._at_once: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            acp.INITIALIZE: self._initialize,
            acp.PING: self._ping,
            acp.AVAILABILITY: self._availability,
        }
        self._in_turn: dict[str, Callable[[dict[str, Any]], Callable[[], dict[str, Any]]]] = {
            acp.REMEMBER: self._remember,
            acp.RESOLVE: self._resolve,
        }

    @property
    def is_busy(self) -> bool:
        """Whether a memory call is running or waiting."""
        return self._waiting.unfinished_tasks > 0

    def run(self, descriptor: int) -> int:
        """Serve until the input ends; returns the exit code."""
        threading.Thread(target=self._work, name="memory-calls", daemon=True).start()
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
        if not isinstance(message, jsonrpc.Request):
            _log.debug("message_skipped", kind=type(message).__name__)
            return
        try:
            self._dispatch(message)
        except CallRefused as refused:
            self._refuse(message, refused)
        except Exception as error:  # noqa: BLE001 - outermost frame of the child's threads
            _log_failure(message.method, error, kind="internal")
            internal = CallRefused(
                jsonrpc.INTERNAL_ERROR, "Internal error", {"details": type(error).__name__}
            )
            self._refuse(message, internal)

    def _dispatch(self, request: jsonrpc.Request) -> None:
        at_once, in_turn = self._at_once.get(request.method), self._in_turn.get(request.method)
        if at_once is not None:
            result = at_once(params_object(request.params))
            self._outlet.send(jsonrpc.response(request.id, result))
        elif in_turn is not None:
            self._enqueue(_Waiting(request, in_turn(params_object(request.params))))
        else:
            raise method_not_found(request.method)

    def _enqueue(self, waiting: _Waiting) -> None:
        try:
            self._waiting.put_nowait(waiting)
        except queue.Full:
            self._fail(waiting.request, Failure("remember_failed", "Too many calls are waiting"))

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        check_initialize(params)
        return self._service.describe()

    def _ping(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"v": 1, "nonce": parse_ping(params)}

    def _availability(self, _params: dict[str, Any]) -> dict[str, Any]:
        return {"available": self._service.is_available()}

    def _remember(self, params: dict[str, Any]) -> Callable[[], dict[str, Any]]:
        request = parse_remember(params, workspace=self._service.workspace)
        asked_ms = request.meta.timeout_ms if request.meta else acp.AGENT_TIMEOUT_MS
        deadline = Deadline.after(min(acp.AGENT_TIMEOUT_MS, asked_ms) - COMMIT_RESERVE_MS)
        return lambda: self._service.remember(request, deadline=deadline)

    def _resolve(self, params: dict[str, Any]) -> Callable[[], dict[str, Any]]:
        parsed = parse_resolve(params, workspace=self._service.workspace)
        return lambda: self._service.resolve(parsed)

    def _work(self) -> None:
        is_behind = False  # the history that people read, which waits for a quiet moment
        while True:
            try:
                waiting = self._waiting.get(timeout=QUIET_S if is_behind else None)
            except queue.Empty:
                is_behind = self._show_history()
                continue
            self._answer(waiting)
            self._waiting.task_done()
            is_behind = waiting.request.method != acp.RESOLVE  # whose child has no other work, and ends soon

    def _show_history(self) -> bool:
        try:
            return self._service.show_history()
        except Exception as error:  # noqa: BLE001 - outermost frame of the child's threads
            _log_failure("history", error, kind="internal")
            return False

    def _answer(self, waiting: _Waiting) -> None:
        request = waiting.request
        try:
            self._outlet.send(jsonrpc.response(request.id, waiting.work()))
        except Exception as error:  # noqa: BLE001 - outermost frame of the child's threads
            failure = failure_of(error)
            _log_failure(request.method, error, kind=failure.kind)
            self._fail(request, failure)

    def _fail(self, request: jsonrpc.Request, failure: Failure) -> None:
        unavailable = failure.kind == "managed_memory_unavailable"
        line = jsonrpc.error_response(
            request.id,
            error_code=acp.UNAVAILABLE if unavailable else acp.TASK_FAILED,
            message=_FAILURE_MESSAGES[request.method],
            data=failure.to_wire(),
        )
        self._outlet.send(line)

    def _refuse(self, request: jsonrpc.Request, refused: CallRefused) -> None:
        line = jsonrpc.error_response(
            request.id, error_code=refused.error_code, message=str(refused), data=refused.payload
        )
        self._outlet.send(line)


def _log_failure(method: str, error: Exception, *, kind: str) -> None:
    """Log what failed; a bug with where it came from, but never its message, which may quote memory."""
    known = isinstance(error, MemlaneError)
    stack = [] if known else traceback.extract_tb(error.__traceback__)
    frames = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in stack]
    facts = {"method": method, "error": type(error).__name__, "kind": kind}
    if isinstance(error, StoreUnusable):
        facts["reason"] = str(error)  # names the folder or file, quotes none
    _log.warning("call_failed", **facts, frames=frames or None)
