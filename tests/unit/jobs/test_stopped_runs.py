"""How a run ends that was told to stop: by a cancel, a shutdown, or the loss of its lease."""

from typing import Any

import pytest

from acp_bridge.errors import (
    AgentDied,
    AgentFailed,
    AgentKilled,
)
from core.acp import Usage
from core.memory_calls import RememberResult
from jobs.tasks import End
from tests.support.scripted_agents import NOTHING, RECORDED, Scripted, run, run_of, scripted


def stopped(reason: Any, **how: Any) -> tuple[End, Scripted]:
    agents = scripted(AgentKilled("stopped"), **how)
    task_run = run_of(agents)
    task_run.stop(reason)
    return task_run.execute(lambda _: None), agents


def test_a_run_that_was_stopped_before_it_began_sends_nothing():
    _, agents = stopped("lost")

    assert (agents.calls, agents.kills) == ([], 1)


def test_a_run_stopped_for_shutdown_is_handed_back_without_closing_the_task():
    end, agents = stopped("shutdown", recorded=None)

    assert (end.status, end.cause, agents.resolves[0].close) == ("queued", None, False)


def test_a_run_that_lost_its_lease_asks_nobody():
    end, agents = stopped("lost")

    assert (end.status, end.cause, agents.resolves) == ("queued", "lease_lost", [])


def test_a_cancelled_run_is_closed_and_ends_cancelled():
    end, agents = stopped("cancel", recorded=None)

    assert (end.status, end.code, agents.resolves[0].close) == ("cancelled", "task_cancelled", True)


def test_a_cancel_that_came_after_the_commit_leaves_the_task_completed():
    end, _ = stopped("cancel", recorded=RECORDED)

    assert end.status == "completed"


def test_the_first_reason_to_stop_counts():
    task_run = run_of(scripted(AgentKilled("stopped"), recorded=None))
    task_run.stop("cancel")
    task_run.stop("shutdown")

    assert task_run.execute(lambda _: None).status == "cancelled"


def test_a_run_that_is_over_kills_nothing_as_the_child_may_be_at_the_next_task():
    agents = scripted(RememberResult.model_validate(RECORDED))
    task_run = run_of(agents)
    assert task_run.stop("lost")
    assert agents.kills == 1

    task_run.execute(lambda _: None)

    assert not task_run.stop("lost")
    assert agents.kills == 1


GIVEN_UP = AgentFailed("task_cancelled", details="")


def told_to_stop(
    reason: Any, answer: Any, *, attempt: int = 1, recorded: Any = NOTHING
) -> tuple[End, Scripted]:
    """The end of a run that was to stop while the child was at work, and then answered so."""
    agents = scripted(answer, recorded=recorded)
    task_run = run_of(agents, attempt=attempt)
    agents.meanwhile = lambda: task_run.stop(reason)
    return task_run.execute(lambda _: None), agents


@pytest.mark.parametrize("reason", ["cancel", "shutdown"])
def test_the_child_of_a_run_that_is_to_stop_is_asked_and_not_killed(reason: Any):
    _, agents = told_to_stop(reason, GIVEN_UP)

    assert (agents.cancels, agents.kills) == ([("/w", "remember-1")], 0)


def test_a_run_that_is_being_cancelled_and_loses_its_lease_is_killed():
    agents = scripted(AgentKilled("stopped"), recorded=None)
    task_run = run_of(agents)
    agents.meanwhile = lambda: [task_run.stop("cancel"), task_run.stop("lost")]

    task_run.execute(lambda _: None)

    assert (len(agents.cancels), agents.kills) == (1, 1)


def test_a_first_run_that_the_child_gave_up_is_cancelled_and_nobody_else_is_asked():
    end, agents = told_to_stop("cancel", GIVEN_UP)

    assert (end.status, end.code, agents.resolves) == ("cancelled", "task_cancelled", [])


def test_a_later_run_that_the_child_gave_up_is_resolved_because_an_earlier_one_may_have_committed():
    end, agents = told_to_stop("cancel", GIVEN_UP, attempt=2, recorded=RECORDED)

    assert (end.status, end.revision, agents.resolves[0].close) == ("completed", "r7", True)


def test_a_run_that_the_child_gave_up_for_a_shutdown_is_handed_back_and_never_closed():
    first, agents = told_to_stop("shutdown", GIVEN_UP)
    later, later_agents = told_to_stop("shutdown", GIVEN_UP, attempt=2, recorded=None)

    assert [(end.status, end.cause) for end in (first, later)] == [("queued", None)] * 2
    assert (agents.resolves, later_agents.resolves[0].close) == ([], False)


def test_a_commit_that_won_against_the_cancel_completes_the_task():
    end, agents = told_to_stop("cancel", RememberResult.model_validate(RECORDED))

    assert (end.status, agents.resolves) == ("completed", [])


def test_a_child_that_dies_of_a_cancel_is_resolved_to_cancelled():
    end, agents = told_to_stop("cancel", AgentDied("died", exit_code=1), recorded=None)

    assert (end.status, agents.resolves[0].close) == ("cancelled", True)


def test_a_child_that_gives_up_unasked_has_failed():
    assert run(scripted(GIVEN_UP)).code == "remember_failed"


def test_a_cancelled_task_that_had_run_before_is_resolved_to_cancelled():
    assert run(scripted(None, recorded=None), mode="resolve", cancel=True).status == "cancelled"


def test_a_failed_or_cancelled_task_tells_what_it_cost():
    usage = Usage(input_tokens=7, model_calls=1)
    cancelled, _ = told_to_stop("cancel", AgentFailed("task_cancelled", details="", usage=usage))
    failed = run(scripted(AgentFailed("remember_no_update", details="x", usage=usage)))

    cost = {"inputTokens": 7, "outputTokens": 0, "modelCalls": 1}
    assert [(end.status, end.usage) for end in (cancelled, failed)] == [("cancelled", cost), ("failed", cost)]


def test_what_an_earlier_run_cost_that_committed_counts_more():
    gave_up = AgentFailed("task_cancelled", details="", usage=Usage(model_calls=1))
    recorded = RECORDED | {"usage": {"modelCalls": 5}}

    end, _ = told_to_stop("cancel", gave_up, attempt=2, recorded=recorded)

    assert end.usage == {"inputTokens": 0, "outputTokens": 0, "modelCalls": 5}
