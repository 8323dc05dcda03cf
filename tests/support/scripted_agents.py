"""Agents that do as they are told, for runs that are judged by what those say."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from core.acp import Progress, Remains, ResolveParams, ResolveResult, TaskMeta
from core.ids import LaneId, WorkspaceId
from core.memory_calls import MemoryCall
from core.workspaces import Workspace
from jobs.runs import TaskRun
from jobs.tasks import End
from tests.support.grants import grant

RECORDED = {"summary": "Saved.", "filesTouched": ["/m/a.md"], "touchedScopes": ["user"], "revision": "r7"}
NOTHING = object()


@dataclass
class Scripted:
    """Answers as told, one answer a call, the last one again and again; raises what is an exception.

    Attributes:
        meanwhile: happens while the task runs.
        progress: what each run tells of it.
    """

    answers: list[Any]
    recorded: Any = NOTHING
    remains: Remains | None = None
    calls: list[tuple[MemoryCall, TaskMeta]] = field(default_factory=list)
    resolves: list[ResolveParams] = field(default_factory=list)
    cancels: list[tuple[str, str]] = field(default_factory=list)
    kills: int = 0
    meanwhile: Callable[[], object] = lambda: None
    progress: Sequence[Progress] = ()

    def run(self, workspace: str, call: MemoryCall, meta: TaskMeta, *, on_progress: Any) -> Any:
        self.calls.append((call, meta))
        self.meanwhile()
        for progress in self.progress:
            on_progress(progress)
        return _given(self.answers.pop(0) if len(self.answers) > 1 else self.answers[0])

    def resolve(self, workspace: str, params: ResolveParams) -> ResolveResult:
        self.resolves.append(params)
        assert self.recorded is not NOTHING, "this end must not be resolved"
        return ResolveResult(result=_given(self.recorded), remains=self.remains)

    def cancel(self, workspace: str, task_id: str) -> None:
        self.cancels.append((workspace, task_id))

    def kill(self, workspace: str) -> None:
        self.kills += 1


def _given(answer: Any) -> Any:
    if isinstance(answer, Exception):
        raise answer
    return answer


def scripted(*answers: Any, recorded: Any = NOTHING) -> Scripted:
    return Scripted(list(answers), recorded)


def run_of(
    agents: Scripted, *, mode: Any = "run", attempt: int = 1, cancel: bool = False, **how: Any
) -> TaskRun:
    granted = grant(mode=mode, attempt=attempt, cancel_requested=cancel)
    how.setdefault("on_progress", lambda *_: None)
    return TaskRun(agents, Workspace(WorkspaceId("w1"), "/w", True), granted, lane=LaneId("d/w1"), **how)


def run(agents: Scripted, **how: Any) -> End:
    return run_of(agents, **how).execute(lambda _at_least: pytest.fail("no fence was wanted"))
