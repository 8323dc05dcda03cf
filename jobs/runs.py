"""One run of one task: ask the agent child, find out how it ended, say so.

The rule that this module keeps: *failed* and *cancelled* mean that memory is unchanged, *completed* means
exactly one commit (or none, when nothing had to change), as long as the child is one that stages. So every
end that is not the child's own answer is resolved against the memory store first.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from acp_bridge.errors import (
    AgentDied,
    AgentFailed,
    AgentKilled,
    AgentProtocolError,
    AgentTimeout,
    AgentUnavailable,
)
from core.acp import ResolveParams, ResolveResult, TaskMeta
from core.errors import DependencyError
from core.ids import Kind, LaneId, TaskId, WorkspaceId, deployment_of, workspace_of
from core.logs import get_logger
from core.memory_calls import ForgetResult, MemoryCall, TaskResult
from core.workspaces import Workspace
from jobs.calls import DRY_RUN, PURGE, call_of, result_of
from jobs.failures import CANCELLED, failed, timed_out
from jobs.lanes import Grant
from jobs.tasks import End, Fence

MAX_REFENCES = 3

_HAND_BACK = End("queued")
_STORE_BUSY = End("queued", cause="store_busy")
_LEASE_LOST = End("queued", cause="lease_lost")
_UNRESOLVED = End("queued", cause="unresolved")

StopReason = Literal["lost", "cancel", "shutdown"]

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Behind:
    """The store has seen a greater fence than ours."""

    stored_fence: int


class Agents(Protocol):
    """What a run needs of the bridge."""

    def run(self, workspace: str, call: MemoryCall, meta: TaskMeta) -> TaskResult:
        """Run a task on the workspace's child."""
        ...

    def resolve(self, workspace: str, params: ResolveParams) -> ResolveResult:
        """Ask the memory store whether a task ever committed."""
        ...

    def kill(self, workspace: str) -> None:
        """End the workspace's child at once; the running call raises AgentKilled."""
        ...


class TaskRun:
    """A granted task on its way to its end.

    Attributes:
        grant: what the end must be reported under; its fence may have grown.
    """

    def __init__(self, agents: Agents, workspace: Workspace, grant: Grant, *, lane: LaneId) -> None:
        self.grant = grant
        self._agents = agents
        self._workspace = workspace
        self._lane = lane
        self._stop: StopReason | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def stop(self, reason: StopReason) -> bool:
        """End the run as soon as can be, from any thread; the first reason counts, repeats do no harm.

        Returns:
            False when the run is over. Nothing is killed then: the child may be at the lane's next task.
        """
        with self._lock:
            if self._is_over:
                return False
            self._stop = self._stop or reason
            self._agents.kill(self._workspace.path)
            return True

    def execute(self, refence: Callable[[int], Fence | None]) -> End:
        """Run the task, or find out how an earlier run ended.

        Args:
            refence: asks for a fence of at least so much; None when the lease is lost.

        Returns:
            The end to report. A hand-back when the outcome can't be known now.
        """
        try:
            end = self._execute(refence)
            return end if self._is_kept() else replace(end, keeps_input=False)
        finally:
            with self._lock:
                self._is_over = True

    def _is_kept(self) -> bool:
        """Whether the request may be kept after the end: not what was purged, nor what is large and done."""
        return self._kind != "import" and not self._purges

    @property
    def _purges(self) -> bool:
        return self.grant.input.get(PURGE) is True

    @property
    def _kind(self) -> Kind:
        return self.grant.task.kind

    def _execute(self, refence: Callable[[int], Fence | None]) -> End:
        if self.grant.mode == "resolve":
            cancelled = self.grant.task.cancel_requested
            return self._resolved(CANCELLED if cancelled else failed(self._kind, "worker_lost"))
        for _ in range(MAX_REFENCES):
            end = self._run_once()
            if isinstance(end, End):
                return end
            fence = refence(end.stored_fence + 1)
            if fence is None:
                return _LEASE_LOST
            self.grant = replace(self.grant, fence=fence)
        _log.error("fence_out_of_step", task=self.grant.task.id, fence=self.grant.fence)
        return _LEASE_LOST

    def _run_once(self) -> End | _Behind:
        try:
            return self._completed(self._call())
        except AgentFailed as error:
            return self._answered(error)
        except AgentUnavailable as error:
            return self._never_started(error)
        except (AgentDied, AgentTimeout, AgentProtocolError) as error:
            _log.warning("agent_lost", task=self.grant.task.id, reason=str(error))
            late = isinstance(error, AgentTimeout)
            return self._resolved(timed_out(self._kind) if late else failed(self._kind))
        except AgentKilled:
            return self._stopped()

    def _call(self) -> TaskResult:
        if self._stop is not None:
            raise AgentKilled("the run was stopped before it began")
        call = call_of(self._kind, self.grant.input, workspace=self._workspace.path)
        meta = TaskMeta(
            task_id=self.grant.task.id,
            lane_id=self._lane,
            fence=self.grant.fence,
            attempt=self.grant.task.attempt,
            client_id=self.grant.task.client_id,
            dry_run=self.grant.input.get(DRY_RUN) is True,
        )
        return self._agents.run(self._workspace.path, call, meta)

    def _answered(self, error: AgentFailed) -> End | _Behind:
        _log.warning("agent_failed", task=self.grant.task.id, kind=error.error_kind)
        _log.debug("agent_failed_because", task=self.grant.task.id, details=error.details)
        if error.error_kind == "store_busy":
            return _STORE_BUSY
        if error.error_kind == "lease_lost":
            return _LEASE_LOST if error.stored_fence is None else _Behind(error.stored_fence)
        if error.error_kind == "task_closed":  # an earlier worker resolved it and died before it said so
            return CANCELLED if self.grant.task.cancel_requested else failed(self._kind, "worker_lost")
        return failed(self._kind, error.error_kind)

    def _never_started(self, error: AgentUnavailable) -> End:
        _log.error("agent_unavailable", task=self.grant.task.id, reason=str(error))
        end = failed(self._kind, "agent_unavailable")
        is_first_run = self.grant.task.attempt == 1 and not self.grant.task.handed_back
        return end if is_first_run else self._resolved(end)

    def _stopped(self) -> End:
        if self._stop == "lost":
            return _LEASE_LOST  # another holder has the task; finish will be fenced
        if self._stop == "cancel":
            return self._resolved(CANCELLED)
        # without a reason of ours the guard did it: this process was paused for longer than a lease
        return self._resolved(_LEASE_LOST if self._stop is None else _HAND_BACK, close=False)

    def _resolved(self, otherwise: End, *, close: bool = True) -> End:
        """The recorded result if the task has committed, else ``otherwise``."""
        params = ResolveParams(
            cwd=self._workspace.path,
            task_id=self.grant.task.id,
            lane_id=self._lane,
            fence=self.grant.fence,
            close=close,
        )
        try:
            recorded = self._agents.resolve(self._workspace.path, params).result
        except (DependencyError, AgentKilled) as error:
            # never *failed* while a commit may exist: the task stays at the head until this can be told
            _log.error("resolve_impossible", task=self.grant.task.id, reason=str(error))
            return _UNRESOLVED
        if recorded is None:
            return otherwise
        if self._purges and self.grant.mode == "run":
            return _UNRESOLVED  # it has committed; only the child can tell that the texts are gone, too
        return self._completed(result_of(self._kind, recorded))

    def _completed(self, result: TaskResult) -> End:
        if result.recovered:
            _log.info("task_recovered", task=self.grant.task.id)
        return End(
            "completed",
            result=result.to_public(),
            revision=result.revision,
            usage=result.usage.to_wire() if result.usage else None,
            memory_changed=self._memory_changed(result),
            purged=self._purged_in(result),
        )

    def _memory_changed(self, result: TaskResult) -> Mapping[str, Any] | None:
        if not result.changed_scopes:
            return None
        return {
            "scope": "managed",
            "source": f"workspace_memory_{self._kind}",
            "taskId": self.grant.task.id,
            "touchedScopes": result.changed_scopes,
            **({"revision": result.revision} if result.revision else {}),
        }

    def _purged_in(self, result: TaskResult) -> Mapping[WorkspaceId, Sequence[TaskId]]:
        """The tasks that a purge names, as far as they are of this deployment: others use another Redis."""
        found: defaultdict[WorkspaceId, list[TaskId]] = defaultdict(list)
        named = (result.purged_tasks if isinstance(result, ForgetResult) else None) or ()
        for one in named:
            lane = LaneId(one.lane_id)
            if deployment_of(lane) == deployment_of(self._lane):
                found[workspace_of(lane)].append(TaskId(one.task_id))
        return dict(found)
