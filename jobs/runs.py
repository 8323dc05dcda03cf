"""One run of one task: ask the agent child, find out how it ended, say so.

The rule that this module keeps: *failed* means that memory is unchanged, *completed* means exactly one
commit. So every end that is not the child's own answer is resolved against the memory store first.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from acp_bridge.errors import (
    AgentDied,
    AgentFailed,
    AgentKilled,
    AgentProtocolError,
    AgentTimeout,
    AgentUnavailable,
)
from core.acp import RememberParams, RememberResult, ResolveParams, ResolveResult, TaskMeta
from core.errors import DependencyError
from core.ids import lane_id
from core.logs import get_logger
from core.workspaces import Workspace
from jobs.failures import failed, timed_out
from jobs.lanes import Grant
from jobs.tasks import End

HAND_BACK = End("queued")

# the store was busy, or the fence moved on under us: the task did not run, its turn comes again
_NOT_RUN = frozenset({"store_busy", "lease_lost"})

_log = get_logger(__name__)


class Agents(Protocol):
    """What a run needs of the bridge."""

    def remember(self, workspace: str, params: RememberParams, meta: TaskMeta) -> RememberResult:
        """Run a remember task on the workspace's child."""
        ...

    def resolve(self, workspace: str, params: ResolveParams) -> ResolveResult:
        """Ask the memory store whether a task ever committed."""
        ...


class TaskRun:
    """A granted task on its way to its end."""

    def __init__(self, agents: Agents, workspace: Workspace, grant: Grant, *, deployment: str) -> None:
        self._agents = agents
        self._workspace = workspace
        self._grant = grant
        self._lane = lane_id(deployment, workspace.id)

    def execute(self) -> End:
        """Run the task, or find out how an earlier run ended.

        Returns:
            The end to report. A hand-back when the outcome can't be known now.
        """
        if self._grant.mode == "resolve":
            return self._resolved(failed(self._kind, "worker_lost"))
        try:
            return self._completed(self._call())
        except AgentFailed as error:
            return self._answered(error)
        except AgentUnavailable as error:
            return self._never_started(error)
        except (AgentDied, AgentTimeout, AgentProtocolError) as error:
            _log.warning("agent_lost", task=self._grant.task.id, reason=str(error))
            late = isinstance(error, AgentTimeout)
            return self._resolved(timed_out(self._kind) if late else failed(self._kind))
        except AgentKilled:
            return self._resolved(HAND_BACK, close=False)

    @property
    def _kind(self) -> Any:
        return self._grant.task.kind

    def _call(self) -> RememberResult:
        params = RememberParams.model_validate({**self._grant.input, "cwd": self._workspace.path})
        meta = TaskMeta(
            task_id=self._grant.task.id,
            lane_id=self._lane,
            fence=self._grant.fence,
            attempt=self._grant.task.attempt,
            client_id=self._grant.task.client_id,
        )
        return self._agents.remember(self._workspace.path, params, meta)

    def _answered(self, error: AgentFailed) -> End:
        _log.warning("agent_failed", task=self._grant.task.id, kind=error.error_kind)
        if error.error_kind in _NOT_RUN:
            return HAND_BACK
        if error.error_kind == "task_closed":  # an earlier worker resolved it and died before it said so
            return failed(self._kind, "worker_lost")
        return failed(self._kind, error.error_kind)

    def _never_started(self, error: AgentUnavailable) -> End:
        _log.error("agent_unavailable", task=self._grant.task.id, reason=str(error))
        end = failed(self._kind, "agent_unavailable")
        return end if self._grant.task.attempt == 1 else self._resolved(end)

    def _resolved(self, otherwise: End, *, close: bool = True) -> End:
        """The recorded result if the task has committed, else ``otherwise``."""
        params = ResolveParams(
            cwd=self._workspace.path,
            task_id=self._grant.task.id,
            lane_id=self._lane,
            fence=self._grant.fence,
            close=close,
        )
        try:
            recorded = self._agents.resolve(self._workspace.path, params).result
        except (DependencyError, AgentKilled) as error:
            # never *failed* while a commit may exist: the task stays at the head until this can be told
            _log.error("resolve_impossible", task=self._grant.task.id, reason=str(error))
            return HAND_BACK
        if recorded is None:
            return otherwise
        return self._completed(RememberResult.model_validate({**recorded, "recovered": True}))

    def _completed(self, result: RememberResult) -> End:
        if result.recovered:
            _log.info("task_recovered", task=self._grant.task.id)
        return End(
            "completed",
            result=result.model_dump(
                mode="json", by_alias=True, include={"summary", "files_touched", "touched_scopes"}
            ),
            revision=result.revision,
            usage=result.usage.to_wire() if result.usage else None,
            memory_changed=self._memory_changed(result),
        )

    def _memory_changed(self, result: RememberResult) -> Mapping[str, Any] | None:
        if not result.files_touched:
            return None
        return {
            "scope": "managed",
            "source": f"workspace_memory_{self._kind}",
            "taskId": self._grant.task.id,
            "touchedScopes": result.touched_scopes,
            **({"revision": result.revision} if result.revision else {}),
        }
