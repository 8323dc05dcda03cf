"""One run of one task: ask the agent child, find out how it ended, say so.

The rule that this module keeps: *failed* and *cancelled* mean that memory is unchanged, *completed* means
exactly one commit (or none, when nothing had to change). So every end that is not the child's own answer is
resolved against the memory store first. A foreign child writes to memory by itself: what a task left that
did not complete is a commit in its name then, its end says so, and it is never run again.
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
    DirectAgentFailed,
)
from acp_bridge.notices import ProgressListener
from core.acp import Progress, Remains, ResolveParams, ResolveResult, Scope, TaskMeta, Usage
from core.errors import DependencyError
from core.ids import Kind, LaneId, TaskId, WorkspaceId, deployment_of, workspace_of
from core.logs import get_logger
from core.memory_calls import ForgetResult, MemoryCall, TaskResult
from core.workspaces import Workspace
from jobs.calls import DRY_RUN, PURGE, call_of, result_of
from jobs.errors import InvalidTaskInput
from jobs.failures import CANCELLED, after_changes, failed, timed_out
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

    def run(
        self, workspace: str, call: MemoryCall, meta: TaskMeta, *, on_progress: ProgressListener
    ) -> TaskResult:
        """Run a task on the workspace's child."""
        ...

    def resolve(self, workspace: str, params: ResolveParams) -> ResolveResult:
        """Ask the memory store whether a task ever committed."""
        ...

    def cancel(self, workspace: str, task_id: str) -> None:
        """Have the workspace's child give the task up, or end it; the running call returns soon."""
        ...

    def kill(self, workspace: str) -> None:
        """End the workspace's child at once; the running call raises AgentKilled."""
        ...


class TaskRun:
    """A granted task on its way to its end.

    Attributes:
        grant: what the end must be reported under; its fence may have grown.
    """

    def __init__(
        self,
        agents: Agents,
        workspace: Workspace,
        grant: Grant,
        *,
        lane: LaneId,
        on_progress: Callable[[Grant, Progress], None],
    ) -> None:
        """Begin nothing yet.

        Args:
            on_progress: hears, on the bridge's thread, how far the task is, and under which grant; must not
                block.
        """
        self.grant = grant
        self._on_progress = on_progress
        self._agents = agents
        self._workspace = workspace
        self._lane = lane
        self._stop: StopReason | None = None
        self._is_over = False
        self._lock = threading.Lock()

    def stop(self, reason: StopReason) -> bool:
        """End the run as soon as can be, from any thread; the first reason counts, repeats do no harm.

        The child is asked to give the task up, or, once the lease is lost, killed.

        Returns:
            False when the run is over. Nothing is done then: the child may be at the lane's next task.
        """
        with self._lock:
            if self._is_over:
                return False
            if reason == "cancel" and self.grant.mode == "resolve":
                return True  # nothing runs that could be given up, and what has committed is carried through
            self._stop = self._stop or reason
            if reason == "lost":
                self._agents.kill(self._workspace.path)
            else:
                self._agents.cancel(self._workspace.path, self.grant.task.id)
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
            return self._resolved(self._lost_end())
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
            return _with_usage(self._answered(error), error.usage)
        except (AgentUnavailable, InvalidTaskInput) as error:
            return self._never_started(error)
        except (AgentDied, AgentTimeout, AgentProtocolError) as error:
            _log.warning("agent_lost", task=self.grant.task.id, reason=str(error))
            if self._stop is not None:
                return self._stopped()
            late = isinstance(error, AgentTimeout)
            return self._resolved(timed_out(self._kind) if late else failed(self._kind))
        except AgentKilled:
            return self._stopped()

    def _call(self, *, carries_on: bool = False) -> TaskResult:
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
        wanted = replace(call, carries_on=carries_on)
        return self._agents.run(self._workspace.path, wanted, meta, on_progress=self._note)

    def _note(self, progress: Progress) -> None:
        self._on_progress(self.grant, progress)

    def _answered(self, error: AgentFailed) -> End | _Behind:
        _log.warning("agent_failed", task=self.grant.task.id, kind=error.error_kind)
        _log.debug("agent_failed_because", task=self.grant.task.id, details=error.details)
        if isinstance(error, DirectAgentFailed):
            return self._resolved(failed(self._kind, error.error_kind))
        if error.error_kind == "store_busy":
            return _STORE_BUSY
        if error.error_kind == "lease_lost":
            return _LEASE_LOST if error.stored_fence is None else _Behind(error.stored_fence)
        if error.error_kind == "task_cancelled" and self._stop is not None:
            return self._stopped(is_given_up=True)
        if error.error_kind == "task_closed":
            # an earlier worker resolved or began it, and died before it said so
            return self._resolved(self._lost_end())
        # this run has committed nothing, says the child; it may have failed before it could ask after others
        return self._resolved_if_run_before(failed(self._kind, error.error_kind))

    def _lost_end(self) -> End:
        return CANCELLED if self.grant.task.cancel_requested else failed(self._kind, "worker_lost")

    def _never_started(self, error: AgentUnavailable | InvalidTaskInput) -> End:
        _log.error("run_not_started", task=self.grant.task.id, code=error.code, reason=str(error))
        return self._resolved_if_run_before(failed(self._kind, error.code))

    def _resolved_if_run_before(self, end: End) -> End:
        """The end of a run that committed nothing; another one may have."""
        return end if self._is_first_run else self._resolved(end)

    @property
    def _is_first_run(self) -> bool:
        """Whether no other run of the task can have committed."""
        return self.grant.task.attempt == 1 and not self.grant.task.handed_back

    def _stopped(self, *, is_given_up: bool = False) -> End:
        """The end of a run that was to stop.

        Args:
            is_given_up: whether the child says that this run committed nothing, and never will.
        """
        if self._stop == "lost":
            return _LEASE_LOST  # another holder has the task; finish will be fenced
        if is_given_up and self._is_first_run:
            return CANCELLED if self._stop == "cancel" else _HAND_BACK
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
            answer = self._agents.resolve(self._workspace.path, params)
        except (DependencyError, AgentKilled) as error:
            # never *failed* while a commit may exist: the task stays at the head until this can be told
            _log.error("resolve_impossible", task=self.grant.task.id, reason=str(error))
            return _UNRESOLVED
        if answer.result is None:
            return otherwise if answer.remains is None else self._left(otherwise, answer.remains)
        if self._purges:  # it has committed; only the child can tell that the texts are gone, too
            return _UNRESOLVED if self.grant.mode == "run" else self._purged_again()
        return self._completed(result_of(self._kind, answer.result))

    def _purged_again(self) -> End:
        """The end of a purge that has committed, carried through by a child of ours."""
        try:
            return self._completed(self._call(carries_on=True))
        except (DependencyError, AgentKilled) as error:
            _log.error("purge_unfinished", task=self.grant.task.id, reason=str(error))
            return _UNRESOLVED

    def _completed(self, result: TaskResult) -> End:
        if result.recovered:
            _log.info("task_recovered", task=self.grant.task.id)
        return End(
            "completed",
            result=result.to_public(),
            revision=result.revision,
            usage=result.usage.to_wire() if result.usage else None,
            memory_changed=self._memory_changed(result.changed_scopes, result.revision),
            purged=self._purged_in(result),
        )

    def _left(self, end: End, remains: Remains) -> End:
        """The end of a task that did not complete and has changed memory all the same."""
        changed = self._memory_changed(remains.touched_scopes, remains.revision)
        return replace(after_changes(end), revision=remains.revision, memory_changed=changed)

    def _memory_changed(self, scopes: Sequence[Scope], revision: str | None) -> Mapping[str, Any] | None:
        if not scopes:
            return None
        return {
            "scope": "managed",
            "source": f"workspace_memory_{self._kind}",
            "taskId": self.grant.task.id,
            "touchedScopes": list(scopes),
            **({"revision": revision} if revision else {}),
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


def _with_usage(end: End | _Behind, usage: Usage | None) -> End | _Behind:
    """The end with what a run cost that failed, unless it tells what one did that committed."""
    if usage is None or isinstance(end, _Behind) or end.usage is not None:
        return end
    return replace(end, usage=usage.to_wire())
