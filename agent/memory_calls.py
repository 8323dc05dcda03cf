"""Memory calls on their way through the child: read, put in line, run one after the other, answered."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent.call_line import CallLine, Withdrawal
from agent.cancellation import CalledOff, Cancellation
from agent.deadline import Deadline
from agent.errors import TaskCancelled
from agent.failure_log import log_failure
from agent.failures import Failure, failure_of, overloaded
from agent.methods import TASK_METHODS, TaskMethod
from agent.outlet import Outlet
from agent.requests import kind_of, params_object, parse_meta, parse_resolve
from agent.service import MemoryService
from agent.task_run import COMMIT_RESERVE_MS
from core import acp, jsonrpc
from core.ids import Kind

MAX_WAITING_CALLS = 64
QUIET_S = 0.05  # before the history is brought further: the next call may be on its way


@dataclass(frozen=True, slots=True)
class _MemoryCall:
    """A call that waits for its turn.

    Attributes:
        name: what the method does, as its failures say it.
        kind: of the task that the call is for.
        task_id: None from a client that is not our bridge.
    """

    request: jsonrpc.Request
    name: str
    kind: Kind
    work: Callable[[], dict[str, Any]]
    cancellation: Cancellation
    task_id: str | None


class MemoryCalls:
    """Serves the methods that change the store or ask it, on a thread of its own."""

    methods = frozenset({*TASK_METHODS, acp.RESOLVE})

    def __init__(self, service: MemoryService, outlet: Outlet) -> None:
        self._service = service
        self._outlet = outlet
        self._line: CallLine[_MemoryCall] = CallLine(MAX_WAITING_CALLS)

    @property
    def is_busy(self) -> bool:
        """Whether a call is running or waiting."""
        return self._line.is_busy

    def start(self) -> None:
        """Serve from now on, as long as the process lives."""
        threading.Thread(target=self._work, name="memory-calls", daemon=True).start()

    def take(self, request: jsonrpc.Request) -> None:
        """Put a request in line; one too many is answered at once.

        Raises:
            CallRefused: its params don't fit.
        """
        method = TASK_METHODS.get(request.method)
        call = self._resolve(request) if method is None else self._task(request, method)
        if not self._line.put(call):
            self._outlet.send(_failed(call, overloaded(call.kind)))

    def cancel_task(self, task_id: str) -> bool:
        """Call a task off; tells whether it was running or waiting here.

        One that waited is answered before this returns. The store is told nothing: who asks for the
        cancel also decides whether the task may run again.
        """
        return self._withdraw(lambda call: call.task_id == task_id, named="task")

    def cancel_request(self, request_id: int | str) -> bool:
        """Call off what a request asked for; as for ``cancel_task``."""
        return self._withdraw(lambda call: call.request.id == request_id, named="request")

    def _withdraw(self, is_meant: Callable[[_MemoryCall], bool], *, named: CalledOff) -> bool:
        withdrawal: Withdrawal[_MemoryCall] = self._line.withdraw(is_meant, named=named)
        for call in withdrawal.waiting:
            cancelled = failure_of(TaskCancelled("it was called off"), call.kind)
            self._outlet.send(_failed(call, cancelled))
        return bool(withdrawal)

    def _task(self, request: jsonrpc.Request, method: TaskMethod[Any]) -> _MemoryCall:
        params = params_object(request.params)
        run = method.prepare(params, workspace=self._service.workspace)
        meta = parse_meta(params, method.kinds)
        kind = kind_of(meta.task_id) if meta else method.kinds[0]
        asked_ms = meta.timeout_ms if meta else acp.AGENT_TIMEOUT_MS
        deadline = Deadline.after(min(acp.AGENT_TIMEOUT_MS, asked_ms) - COMMIT_RESERVE_MS)
        return _MemoryCall(
            request,
            method.name,
            kind,
            lambda: self._service.run(run, kind=kind, meta=meta, deadline=deadline, tell=self._tell),
            deadline.cancellation,
            meta.task_id if meta else None,
        )

    def _resolve(self, request: jsonrpc.Request) -> _MemoryCall:
        parsed = parse_resolve(params_object(request.params), workspace=self._service.workspace)
        kind = kind_of(parsed.task_id)
        return _MemoryCall(
            request, "resolve", kind, lambda: self._service.resolve(parsed), Cancellation(), task_id=None
        )

    def _tell(self, progress: acp.Progress) -> None:
        self._outlet.send(jsonrpc.notification(acp.PROGRESS, progress.to_wire()))

    def _work(self) -> None:
        is_behind = False  # the history that people read, which waits for a quiet moment
        while True:
            call = self._line.take(timeout_s=QUIET_S if is_behind else None)
            if call is None:
                is_behind = self._tidy_history()
                continue
            line = self._answer_to(call)
            self._line.finish()  # first: who has the answer finds nothing left to call off
            self._outlet.send(line)
            is_behind = call.request.method != acp.RESOLVE  # whose child has no other work, and ends soon

    def _tidy_history(self) -> bool:
        try:
            return self._service.tidy_history()
        except Exception as error:  # noqa: BLE001 - outermost frame of the child's threads
            log_failure("history", error, kind="internal")
            return False

    def _answer_to(self, call: _MemoryCall) -> bytes:
        try:
            return jsonrpc.response(call.request.id, call.work())
        except Exception as error:  # noqa: BLE001 - outermost frame of the child's threads
            failure = failure_of(error, call.kind)
            log_failure(call.request.method, error, kind=failure.kind)
            return _failed(call, failure)


def _failed(call: _MemoryCall, failure: Failure) -> bytes:
    ended = "timed out" if failure.is_timeout else "failed"
    return jsonrpc.error_response(
        call.request.id,
        error_code=_error_code(call, failure),
        message=f"Workspace memory {call.name} {ended}",
        data=failure.to_wire(),
    )


def _error_code(call: _MemoryCall, failure: Failure) -> int:
    if failure.kind == "managed_memory_unavailable":
        return acp.UNAVAILABLE
    if failure.kind == "task_cancelled" and call.cancellation.named == "request":
        return acp.REQUEST_CANCELLED
    return acp.TASK_FAILED
