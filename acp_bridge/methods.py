"""The calls that the worker makes, with their shapes and what a failed answer means."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from acp_bridge.connection import Connection
from acp_bridge.errors import AgentFailed, AgentProtocolError
from core import acp, jsonrpc
from core.memory_calls import MemoryCall, SnapshotParams, SnapshotResult, TaskResult

MAX_ERROR_KIND_CHARS = 64
MAX_DETAILS_CHARS = 2000

_CONTRACT_KEYS = frozenset(
    {"summary", "filesTouched", "touchedScopes", "removedEntries", "touchedTopics", "dedupedEntries"}
)

_Shape = TypeVar("_Shape", bound=acp.Wire)


class _Availability(acp.Wire):
    available: bool


async def run(connection: Connection, call: MemoryCall, *, meta: acp.TaskMeta, limit_s: float) -> TaskResult:
    """Have the child work on memory. Only a child of ours is told which task it is.

    A foreign child lives meanwhile only as long as the lease is extended, see ``Connection.under_lease``.

    Raises:
        AgentFailed: the child says that it failed.
        AgentProtocolError: the answer has the wrong shape.
        AgentTimeout, AgentDied, AgentKilled: see ``Connection.call``.
    """
    body = _of_task(call.params, meta) if connection.speaks_memlane else call.params.to_wire()
    with connection.under_lease():
        answer = await _ask(connection, call.method, body, limit_s=limit_s)
    if not connection.speaks_memlane:
        answer = _contract_part(answer)
    return _checked(call.result, answer)


async def snapshot(
    own: Connection, params: SnapshotParams, *, meta: acp.TaskMeta, limit_s: float
) -> dict[str, Any] | None:
    """Tell a child of ours that a foreign one is about to work on memory.

    Returns:
        The recorded result if the task has committed already; nothing may run then.

    Raises:
        Same as ``run``; with kind ``task_closed`` the foreign child may have run before.
    """
    answer = await _ask(own, acp.SNAPSHOT, _of_task(params, meta), limit_s=limit_s)
    return _checked(SnapshotResult, answer).result


async def available(connection: Connection, cwd: str, *, limit_s: float) -> bool:
    """Ask whether the child can remember. One that works on memory right now isn't asked: it can.

    Raises:
        Same as ``run``.
    """
    if connection.is_running(acp.MEMORY_METHODS):
        return True
    answer = await _ask(connection, acp.AVAILABILITY, {"cwd": cwd}, limit_s=limit_s)
    return _checked(_Availability, answer).available


async def resolve(connection: Connection, params: acp.ResolveParams, *, limit_s: float) -> acp.ResolveResult:
    """Ask whether a task ever committed; needs a child of ours.

    Raises:
        Same as ``run``.
    """
    answer = await _ask(connection, acp.RESOLVE, params.to_wire(), limit_s=limit_s)
    return _checked(acp.ResolveResult, answer)


def _of_task(params: acp.Wire, meta: acp.TaskMeta) -> dict[str, Any]:
    return params.to_wire() | {"_meta": {acp.TASK_META: meta.to_wire()}}


async def _ask(connection: Connection, method: str, params: Mapping[str, Any], *, limit_s: float) -> Any:
    answer = await connection.call(method, params, limit_s=limit_s)
    if isinstance(answer, jsonrpc.ErrorResponse):
        raise _failure(answer, ours=connection.speaks_memlane)
    return answer.result


def _contract_part(result: Any) -> Any:
    """What of a foreign child's result is meant as we read it; other keys may mean anything."""
    if not isinstance(result, dict):
        return result
    return {name: value for name, value in result.items() if name in _CONTRACT_KEYS}


def error_kind_of(answer: jsonrpc.ErrorResponse) -> str | None:
    """The child's own word for what went wrong, at most 64 characters; None if it has none."""
    kind = answer.data.get("errorKind") if isinstance(answer.data, dict) else None
    return kind[:MAX_ERROR_KIND_CHARS] if isinstance(kind, str) and kind else None


def _failure(answer: jsonrpc.ErrorResponse, *, ours: bool) -> AgentFailed:
    facts = answer.data if isinstance(answer.data, dict) else {}
    otherwise = "managed_memory_unavailable" if answer.error_code == acp.UNAVAILABLE else "unspecified"
    kind = error_kind_of(answer) or otherwise
    details = facts.get("details", answer.message)
    fence, usage = (facts.get("storedFence"), facts.get("usage")) if ours else (None, None)
    return AgentFailed(
        kind,
        details=str(details)[:MAX_DETAILS_CHARS],
        stored_fence=fence if type(fence) is int else None,  # to Python, true is an int, too
        usage=_usage_in(usage),
    )


def _usage_in(value: Any) -> acp.Usage | None:
    try:
        return acp.Usage.model_validate(value)
    except ValidationError:
        return None


def _checked(shape: type[_Shape], result: Any) -> _Shape:
    try:
        return shape.model_validate(result)
    except ValidationError as error:
        # where and why, never the value: it may hold memory text
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"])) or "result"
        raise AgentProtocolError(f"wrong shape of the agent's answer at {place}: {first['type']}") from None
