"""How each end of a run is judged: what the child says counts, everything else is resolved first."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from acp_bridge.errors import (
    AgentDied,
    AgentFailed,
    AgentKilled,
    AgentProtocolError,
    AgentTimeout,
    AgentUnavailable,
)
from core.acp import RememberParams, RememberResult, ResolveParams, ResolveResult, TaskMeta
from core.ids import ClaimId, TaskId, WorkspaceId
from core.workspaces import Workspace
from jobs.lanes import Grant
from jobs.runs import HAND_BACK, TaskRun
from jobs.tasks import Fence, Task

RECORDED = {"summary": "Saved.", "filesTouched": ["/m/a.md"], "touchedScopes": ["user"], "revision": "r7"}
NOTHING = object()


@dataclass
class ScriptedAgents:
    """Answers as told; raises what is an exception."""

    answer: Any
    recorded: Any = NOTHING
    calls: list[tuple[RememberParams, TaskMeta]] = field(default_factory=list)
    resolves: list[ResolveParams] = field(default_factory=list)

    def remember(self, workspace: str, params: RememberParams, meta: TaskMeta) -> Any:
        self.calls.append((params, meta))
        return _given(self.answer)

    def resolve(self, workspace: str, params: ResolveParams) -> ResolveResult:
        self.resolves.append(params)
        assert self.recorded is not NOTHING, "this end must not be resolved"
        return ResolveResult(result=_given(self.recorded))


def _given(answer: Any) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return answer


def run(agents: ScriptedAgents, *, mode: Any = "run", attempt: int = 1) -> Any:
    task = Task(
        TaskId("remember-1"),
        WorkspaceId("w1"),
        "remember",
        "running",
        1,
        1,
        attempt=attempt,
        client_id="client_a",
    )
    grant = Grant(mode, task, ClaimId("c"), Fence(42), {"content": "a fact", "scope": "user"})
    return TaskRun(agents, Workspace(WorkspaceId("w1"), "/w", True), grant, deployment="d").execute()


def test_the_childs_result_completes_the_task():
    agents = ScriptedAgents(RememberResult.model_validate(RECORDED))

    end = run(agents)

    params, meta = agents.calls[0]
    assert (params.content, params.scope, params.context_mode, params.cwd) == (
        "a fact",
        "user",
        "workspace",
        "/w",
    )
    assert (meta.task_id, meta.lane_id, meta.fence, meta.attempt) == ("remember-1", "d/w1", 42, 1)
    assert (end.status, end.revision) == ("completed", "r7")
    assert end.result == {"summary": "Saved.", "filesTouched": ["/m/a.md"], "touchedScopes": ["user"]}
    assert end.memory_changed == {
        "scope": "managed",
        "source": "workspace_memory_remember",
        "taskId": "remember-1",
        "touchedScopes": ["user"],
        "revision": "r7",
    }


def test_a_result_that_touched_nothing_changes_no_memory():
    unchanged = RememberResult(summary="Known already.", files_touched=[], touched_scopes=[])

    assert run(ScriptedAgents(unchanged)).memory_changed is None


def test_the_childs_own_failure_is_the_tasks():
    end = run(ScriptedAgents(AgentFailed("remember_no_update", details="x")))

    assert (end.status, end.code) == ("failed", "remember_no_update")


@pytest.mark.parametrize("kind", ["store_busy", "lease_lost"])
def test_a_task_that_did_not_get_to_run_is_handed_back(kind: str):
    assert run(ScriptedAgents(AgentFailed(kind, details=""))) is HAND_BACK


def test_a_task_that_was_closed_by_an_earlier_worker_is_lost():
    assert run(ScriptedAgents(AgentFailed("task_closed", details=""))).code == "worker_lost"


def test_a_child_that_cannot_be_started_fails_the_task():
    assert run(ScriptedAgents(AgentUnavailable("no such file"))).code == "agent_unavailable"


def test_on_the_second_attempt_even_that_is_resolved_first():
    agents = ScriptedAgents(AgentUnavailable("no such file"), recorded=RECORDED)

    assert run(agents, attempt=2).status == "completed"


@pytest.mark.parametrize(
    ("lost", "code"),
    [
        (AgentDied("died", exit_code=-9), "remember_failed"),
        (AgentProtocolError("shape"), "remember_failed"),
        (AgentTimeout("late"), "remember_timeout"),
    ],
)
def test_a_lost_child_is_resolved_and_only_then_fails_the_task(lost: Exception, code: str):
    agents = ScriptedAgents(lost, recorded=None)

    end = run(agents)

    assert (end.status, end.code) == ("failed", code)
    assert (agents.resolves[0].task_id, agents.resolves[0].fence, agents.resolves[0].close) == (
        "remember-1",
        42,
        True,
    )


@pytest.mark.parametrize("lost", [AgentDied("died", exit_code=-9), AgentTimeout("late"), AgentKilled("lost")])
def test_a_commit_that_was_made_before_the_child_was_lost_completes_the_task(lost: Exception):
    end = run(ScriptedAgents(lost, recorded=RECORDED))

    assert (end.status, end.revision) == ("completed", "r7")
    assert end.memory_changed is not None


def test_while_the_store_cannot_tell_the_task_is_never_failed():
    agents = ScriptedAgents(AgentDied("died", exit_code=1), recorded=AgentUnavailable("no resolver"))

    assert run(agents) is HAND_BACK


def test_a_run_that_the_bridge_ended_is_handed_back_without_closing_the_task():
    agents = ScriptedAgents(AgentKilled("draining"), recorded=None)

    assert run(agents) is HAND_BACK
    assert not agents.resolves[0].close


def test_a_task_without_attempts_left_is_resolved_not_run():
    agents = ScriptedAgents(AssertionError("must not run"), recorded=None)

    end = run(agents, mode="resolve", attempt=2)

    assert (end.code, agents.calls) == ("worker_lost", [])


def test_a_task_without_attempts_left_that_had_committed_is_completed():
    assert run(ScriptedAgents(None, recorded=RECORDED), mode="resolve", attempt=2).status == "completed"
