"""How each end of a run is judged: what the child says counts, everything else is resolved first."""

from dataclasses import replace
from typing import Any

import pytest

from acp_bridge.errors import (
    AgentDied,
    AgentFailed,
    AgentKilled,
    AgentProtocolError,
    AgentTimeout,
    AgentUnavailable,
    DirectAgentFailed,
)
from core.acp import Progress, Remains
from core.memory_calls import ForgetResult, RememberResult
from jobs.calls import call_of
from jobs.runs import TaskRun
from jobs.tasks import Fence
from tests.support.scripted_agents import RECORDED, Scripted, run, run_of, scripted


def test_the_childs_result_completes_the_task():
    agents = scripted(RememberResult.model_validate(RECORDED))

    end = run(agents)

    call, meta = agents.calls[0]
    assert call == call_of("remember", {"content": "a fact", "scope": "user"}, workspace="/w")
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

    assert run(scripted(unchanged)).memory_changed is None


def test_the_childs_own_failure_is_the_tasks():
    end = run(scripted(AgentFailed("remember_no_update", details="x")))

    assert (end.status, end.code) == ("failed", "remember_no_update")


@pytest.mark.parametrize("kind", ["store_busy", "lease_lost"])
def test_a_task_that_did_not_get_to_run_is_handed_back_for_that_cause(kind: str):
    end = run(scripted(AgentFailed(kind, details="")))

    assert (end.status, end.cause) == ("queued", kind)


def test_a_fence_behind_that_of_the_store_is_raised_and_the_task_runs():
    behind = AgentFailed("lease_lost", details="", stored_fence=99)
    agents = scripted(behind, RememberResult.model_validate(RECORDED))
    asked: list[int] = []
    task_run = run_of(agents)

    def refence(at_least: int) -> Fence:
        asked.append(at_least)
        return Fence(at_least + 5)

    end = task_run.execute(refence)

    assert (end.status, asked, task_run.grant.fence) == ("completed", [100], 105)
    assert [meta.fence for _, meta in agents.calls] == [42, 105]


def test_progress_is_told_under_the_fence_that_holds_by_then():
    behind = AgentFailed("lease_lost", details="", stored_fence=99)
    agents = scripted(behind, RememberResult.model_validate(RECORDED))
    agents.progress = [Progress(task_id="remember-1", turn=turn) for turn in (1, 2)]
    heard: list[tuple[int, int]] = []

    run_of(agents, on_progress=lambda grant, progress: heard.append((grant.fence, progress.turn))).execute(
        Fence
    )

    assert heard == [(42, 1), (42, 2), (100, 1), (100, 2)]


def test_a_fence_is_not_raised_for_who_lost_the_lane():
    end = run_of(scripted(AgentFailed("lease_lost", details="", stored_fence=99))).execute(lambda _: None)

    assert end.cause == "lease_lost"


def test_after_three_vain_tries_the_task_is_handed_back():
    agents = scripted(AgentFailed("lease_lost", details="", stored_fence=99))

    end = run_of(agents).execute(Fence)

    assert (end.cause, len(agents.calls)) == ("lease_lost", 3)


def test_a_task_that_was_closed_by_an_earlier_worker_is_lost():
    assert run(scripted(AgentFailed("task_closed", details=""), recorded=None)).code == "worker_lost"


def test_a_child_that_cannot_be_started_fails_the_task():
    assert run(scripted(AgentUnavailable("no such file"))).code == "agent_unavailable"


def test_a_stored_request_that_no_agent_can_be_asked_fails_the_task_and_not_the_worker():
    agents = scripted()
    task_run = run_of(agents)
    task_run.grant = replace(task_run.grant, input={"content": 7})

    end = task_run.execute(Fence)

    assert (end.status, end.code, agents.calls) == ("failed", "remember_failed", [])


def test_on_the_second_attempt_even_that_is_resolved_first():
    agents = scripted(AgentUnavailable("no such file"), recorded=RECORDED)

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
    agents = scripted(lost, recorded=None)

    end = run(agents)

    assert (end.status, end.code) == ("failed", code)
    assert (agents.resolves[0].task_id, agents.resolves[0].fence, agents.resolves[0].close) == (
        "remember-1",
        42,
        True,
    )


@pytest.mark.parametrize("lost", [AgentDied("died", exit_code=-9), AgentTimeout("late"), AgentKilled("lost")])
def test_a_commit_that_was_made_before_the_child_was_lost_completes_the_task(lost: Exception):
    end = run(scripted(lost, recorded=RECORDED))

    assert (end.status, end.revision) == ("completed", "r7")
    assert end.memory_changed is not None


@pytest.mark.parametrize("trouble", [AgentUnavailable("no resolver"), AgentKilled("the bridge is closed")])
def test_while_the_store_cannot_tell_the_task_is_never_failed(trouble: Exception):
    agents = scripted(AgentDied("died", exit_code=1), recorded=trouble)

    end = run(agents)

    assert (end.status, end.cause) == ("queued", "unresolved")


def test_a_task_without_attempts_left_is_resolved_not_run():
    agents = scripted(AssertionError("must not run"), recorded=None)

    end = run(agents, mode="resolve", attempt=2)

    assert (end.code, agents.calls) == ("worker_lost", [])


def test_a_task_without_attempts_left_that_had_committed_is_completed():
    assert run(scripted(None, recorded=RECORDED), mode="resolve", attempt=2).status == "completed"


def test_a_request_with_a_secret_or_a_purge_is_not_kept():
    assert run(scripted(AgentFailed("secret_detected", details=""))).keeps_input is False
    assert run(scripted(AgentFailed("remember_failed", details=""))).keeps_input is True
    task_run = run_of(scripted(RememberResult.model_validate(RECORDED)))
    task_run.grant = replace(task_run.grant, input={"content": "x", "purge": True})
    assert task_run.execute(lambda _: None).keeps_input is False


def test_a_purge_tells_which_earlier_tasks_quote_what_is_gone():
    forgotten = {"summary": "", "removedEntries": [], "touchedTopics": [], "touchedScopes": ["user"]}
    named = {"d/w1": ["remember-0", "remember-1"], "d/w2": ["remember-2"], "other/w1": ["remember-3"]}
    told = [{"laneId": lane, "taskId": task} for lane, tasks in named.items() for task in tasks]
    answer = ForgetResult.model_validate(forgotten | {"purgedTasks": told})

    end = run(scripted(answer))

    assert end.purged == {"w1": ["remember-0", "remember-1"], "w2": ["remember-2"]}
    assert end.result == forgotten


def test_a_request_to_import_is_not_kept_because_it_is_large():
    task_run = run_of(scripted(AgentFailed("memory_conflict", details="")))
    task = replace(task_run.grant.task, kind="import")
    task_run.grant = replace(task_run.grant, task=task, input={"documents": [], "conflict": "fail"})

    assert task_run.execute(lambda _: None).keeps_input is False


def test_a_handed_back_task_whose_child_can_not_be_started_is_resolved_first():
    agents = scripted(AgentUnavailable("no memory left"), recorded=RECORDED)
    task_run = run_of(agents)
    task_run.grant = replace(task_run.grant, task=replace(task_run.grant.task, handed_back=True))

    end = task_run.execute(lambda _: None)

    assert (end.status, end.revision, len(agents.resolves)) == ("completed", "r7", 1)


@pytest.mark.parametrize("kind", ["managed_memory_unavailable", "remember_timeout"])
def test_a_task_that_may_have_committed_in_an_earlier_run_is_resolved_before_it_fails(kind: str):
    def later(recorded: Any) -> TaskRun:
        task_run = run_of(scripted(AgentFailed(kind, details=""), recorded=recorded))
        task_run.grant = replace(task_run.grant, task=replace(task_run.grant.task, handed_back=True))
        return task_run

    ends = [later(recorded).execute(lambda _: None) for recorded in (RECORDED, None, AgentUnavailable("x"))]

    assert [(end.status, end.code, end.cause) for end in ends] == [
        ("completed", None, None),
        ("failed", kind, None),
        ("queued", None, "unresolved"),
    ]
    assert run(scripted(AgentFailed(kind, details=""))).code == kind


def purge_of(agents: Scripted, **how: Any) -> TaskRun:
    task_run = run_of(agents, **how)
    task_run.grant = replace(task_run.grant, input={"content": "x", "purge": True})
    return task_run


def test_a_purge_that_was_cut_short_is_run_again_until_the_child_says_that_it_is_done():
    agents = scripted(AgentDied("killed", exit_code=-9), recorded=RECORDED)

    assert purge_of(agents).execute(lambda _: None).cause == "unresolved"


def test_a_purge_that_had_committed_is_carried_through_by_a_child_of_ours_even_if_it_was_to_be_cancelled():
    agents = scripted(RememberResult.model_validate(RECORDED), recorded=RECORDED)
    task_run = purge_of(agents, mode="resolve", cancel=True)

    assert task_run.stop("cancel")
    end = task_run.execute(lambda _: None)

    assert (end.status, [call.is_ours for call, _ in agents.calls], agents.cancels) == (
        "completed",
        [True],
        [],
    )


def test_a_committed_purge_that_can_not_be_carried_through_yet_has_no_end():
    agents = scripted(AgentUnavailable("no child"), recorded=RECORDED)

    assert purge_of(agents, mode="resolve").execute(lambda _: None).cause == "unresolved"


def test_what_a_foreign_child_can_not_do_may_have_been_done_by_another_one():
    unsupported = AgentFailed("agent_unsupported", details="")

    assert run(scripted(unsupported)).code == "agent_unsupported"
    assert run(scripted(unsupported, recorded=RECORDED), attempt=2).status == "completed"


def test_a_failure_of_a_child_that_writes_by_itself_is_resolved_before_it_is_told():
    agents = scripted(DirectAgentFailed("remember_no_update", details=""), recorded=None)

    end = run(agents)

    assert (end.code, end.memory_changed, agents.resolves[0].close) == ("remember_no_update", None, True)
    assert end.message == "Remember agent did not update any memory."


def test_a_foreign_child_has_no_say_about_the_lane():
    agents = scripted(DirectAgentFailed("lease_lost", details=""), recorded=None)

    assert run(agents).code == "remember_failed"


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        (DirectAgentFailed("remember_failed", details=""), "remember_failed"),
        (AgentDied("killed", exit_code=-9), "remember_failed"),
        (AgentTimeout("too late"), "remember_timeout"),
        (AgentProtocolError("what?"), "remember_failed"),
        (AgentFailed("task_closed", details=""), "worker_lost"),
    ],
)
def test_what_a_task_left_that_did_not_complete_is_told_with_its_end(trouble: Exception, code: str):
    agents = scripted(trouble, recorded=None)
    agents.remains = Remains(revision="r4", touched_scopes=["user"])

    end = run(agents)

    assert (end.status, end.code, end.revision, end.result) == ("failed", code, "r4", None)
    assert str(end.message).endswith(". Memory may have changed.")
    assert end.memory_changed == {
        "scope": "managed",
        "source": "workspace_memory_remember",
        "taskId": "remember-1",
        "touchedScopes": ["user"],
        "revision": "r4",
    }


def test_what_a_cancelled_task_left_is_told_too():
    agents = scripted(AgentKilled("stopped"), recorded=None)
    agents.remains = Remains(revision="r4", touched_scopes=["project"])
    task_run = run_of(agents)
    task_run.stop("cancel")

    end = task_run.execute(lambda _: None)

    assert (end.status, end.code, end.revision) == ("cancelled", "task_cancelled", "r4")
    assert end.message == "The task was cancelled. Memory may have changed."
