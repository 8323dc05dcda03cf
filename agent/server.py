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
from agent.failures import Failure, failure_of, overloaded
from agent.methods import TASK_METHODS, TaskMethod
from agent.models.choice import open_fast_model, open_model
from agent.outlet import Outlet, take_stdout
from agent.requests import (
    CallRefused,
    check_initialize,
    kind_of,
    method_not_found,
    params_object,
    parse_meta,
    parse_ping,
    parse_resolve,
)
from agent.service import MemoryService
from agent.task_run import COMMIT_RESERVE_MS
from core import acp, jsonrpc
from core.errors import MemlaneError
from core.ids import Kind
from core.logs import get_logger
from core.settings import ModelSettings, Settings
from memory.errors import StoreUnusable

MAX_WAITING_CALLS = 64
READ_BYTES = 65_536
QUIET_S = 0.05  # before the history is brought further: the next call may be on its way

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
    server = AgentServer(service, outlet)
    code = server.run(0)
    if server.is_busy:
        os._exit(code)  # the interpreter's own end would wait for what the task still does
    return code


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A call that waits for its turn.

    Attributes:
        name: what the method does, as its failures say it.
        kind: of the task that the call is for.
    """

    request: jsonrpc.Request
    name: str
    kind: Kind
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
        at_once, method = self._at_once.get(request.method), TASK_METHODS.get(request.method)
        if at_once is not None:
            result = at_once(params_object(request.params))
            self._outlet.send(jsonrpc.response(request.id, result))
        elif method is not None:
            self._enqueue(self._task(request, method))
        elif request.method == acp.RESOLVE:
            self._enqueue(self._resolve(request))
        else:
            raise method_not_found(request.method)

    def _enqueue(self, waiting: _Waiting) -> None:
        try:
            self._waiting.put_nowait(waiting)
        except queue.Full:
            self._fail(waiting, overloaded(waiting.kind))

    def _initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        check_initialize(params)
        return self._service.describe()

    def _ping(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"v": 1, "nonce": parse_ping(params)}

    def _availability(self, _params: dict[str, Any]) -> dict[str, Any]:
        return {"available": self._service.is_available()}

    def _task(self, request: jsonrpc.Request, method: TaskMethod[Any]) -> _Waiting:
        params = params_object(request.params)
        run = method.prepare(params, workspace=self._service.workspace)
        meta = parse_meta(params, method.kinds)
        kind = kind_of(meta.task_id) if meta else method.kinds[0]
        asked_ms = meta.timeout_ms if meta else acp.AGENT_TIMEOUT_MS
        deadline = Deadline.after(min(acp.AGENT_TIMEOUT_MS, asked_ms) - COMMIT_RESERVE_MS)
        return _Waiting(
            request,
            method.name,
            kind,
            lambda: self._service.run(run, kind=kind, meta=meta, deadline=deadline),
        )

    def _resolve(self, request: jsonrpc.Request) -> _Waiting:
        parsed = parse_resolve(params_object(request.params), workspace=self._service.workspace)
        return _Waiting(request, "resolve", kind_of(parsed.task_id), lambda: self._service.resolve(parsed))

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
            return self._service.tidy_history()
        except Exception as error:  # noqa: BLE001 - outermost frame of the child's threads
            _log_failure("history", error, kind="internal")
            return False

    def _answer(self, waiting: _Waiting) -> None:
        try:
            self._outlet.send(jsonrpc.response(waiting.request.id, waiting.work()))
        except Exception as error:  # noqa: BLE001 - outermost frame of the child's threads
            failure = failure_of(error, waiting.kind)
            _log_failure(waiting.request.method, error, kind=failure.kind)
            self._fail(waiting, failure)

    def _fail(self, waiting: _Waiting, failure: Failure) -> None:
        unavailable = failure.kind == "managed_memory_unavailable"
        ended = "timed out" if failure.is_timeout else "failed"
        line = jsonrpc.error_response(
            waiting.request.id,
            error_code=acp.UNAVAILABLE if unavailable else acp.TASK_FAILED,
            message=f"Workspace memory {waiting.name} {ended}",
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
