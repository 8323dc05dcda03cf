"""Tasks of a foreign child, which writes to memory by itself: one of ours looks before and records after."""

from collections.abc import Callable
from dataclasses import dataclass

from acp_bridge import methods
from acp_bridge.connection import Connection
from acp_bridge.errors import AgentFailed, AgentUnavailable, DirectAgentFailed
from core import acp
from core.memory_calls import ForgetParams, MemoryCall, RecordParams, SnapshotParams, TaskResult

MAX_RECORD_TRIES = 3  # each waits for the store's lock


@dataclass(frozen=True, slots=True)
class DirectTask:
    """A task for a foreign child.

    Attributes:
        cwd: canonical path of the workspace.
        lease_until_ms: tells until when the foreign child may live, milliseconds since boot, unless the lease
            is extended further.
        limit_s: what the foreign child has.
        own_limit_s: what each call to a child of ours has: a snapshot, and up to three tries to record.
    """

    call: MemoryCall
    meta: acp.TaskMeta
    cwd: str
    lease_until_ms: Callable[[], int]
    limit_s: float
    own_limit_s: float


async def run(task: DirectTask, foreign: Connection, own: Connection) -> TaskResult:
    """Have a foreign child work on memory, so that what it did is committed in the task's name.

    Args:
        own: a child of ours for the same workspace.

    Raises:
        AgentUnavailable: the foreign child has died before anything was done.
        AgentFailed: it can't be done so, or may not run (again); the foreign child was not asked.
        DirectAgentFailed: the foreign child says that it failed, or what it did could not be recorded.
        AgentProtocolError, AgentTimeout, AgentDied, AgentKilled: see ``methods.run``, of either child.
    """
    _require_serviceable(task)
    if not foreign.alive:  # before the snapshot, which closes the task
        raise AgentUnavailable("the agent died before it was asked")
    recorded = await methods.snapshot(
        own, SnapshotParams(cwd=task.cwd), meta=task.meta, limit_s=task.own_limit_s
    )
    if recorded is not None:
        return task.call.result.model_validate(recorded | {"recovered": True})
    try:
        with foreign.under_lease():
            foreign.extend_to(task.lease_until_ms())  # what the starts of two children have left of it
            result = await methods.run(foreign, task.call, meta=task.meta, limit_s=task.limit_s)
        return await _record(task, own, result)
    except AgentFailed as error:
        raise DirectAgentFailed(error.error_kind, details=error.details) from error


async def _record(task: DirectTask, own: Connection, result: TaskResult) -> TaskResult:
    """Have the result recorded; a task that can't be run again is not given up because the store is busy."""
    call = MemoryCall(acp.RECORD, RecordParams(cwd=task.cwd, result=result.to_wire()), type(result))
    for _ in range(MAX_RECORD_TRIES - 1):
        try:
            return await methods.run(own, call, meta=task.meta, limit_s=task.own_limit_s)
        except AgentFailed as error:
            if error.error_kind != "store_busy":
                raise
    return await methods.run(own, call, meta=task.meta, limit_s=task.own_limit_s)


def _require_serviceable(task: DirectTask) -> None:
    params = task.call.params
    if task.meta.dry_run or (isinstance(params, ForgetParams) and params.purge):
        raise AgentFailed(
            "agent_unsupported", details="this agent writes by itself: it can neither preview nor purge"
        )
