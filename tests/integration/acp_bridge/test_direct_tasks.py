"""A foreign child never works alone: a child of ours is told before, and records after."""

import json
import os

import pytest

from acp_bridge.errors import AgentFailed, AgentKilled, AgentTimeout, AgentUnavailable, DirectAgentFailed
from core import acp
from core.clock import boot_ms
from core.memory_calls import ForgetParams, ForgetResult, MemoryCall, RememberParams, TaskResult, UndoParams
from tests.support import fake_child
from tests.support.waiting import until

GOOD = {"summary": "Saved.", "filesTouched": ["/m/a.md"], "touchedScopes": ["user"]}


def told(answer):
    return json.dumps({"result": answer})


def test_one_warm_child_of_ours_stands_beside_the_foreign_one(open_desk):
    desk = open_desk("ForeignAsTold")

    assert desk.remember(told(GOOD)).summary == "Saved."
    desk.remember(told(GOOD))
    desk.run(MemoryCall(acp.UNDO, UndoParams(cwd=str(desk.path), revision="r7"), TaskResult))

    assert len(desk.pids()) == 2
    assert desk.bridge.children() == {str(desk.path): desk.leaders()[0]}


def test_a_task_that_has_a_result_is_not_given_to_the_foreign_child(open_desk):
    desk = open_desk("ForeignHangsInCall", resolver="HasSeenTheTask")

    result = desk.remember()

    assert (result.summary, result.revision, result.recovered) == ("Done before.", "r3", True)


def test_what_only_ours_may_say_is_not_taken_from_a_foreign_child(open_desk):
    quoting = {"laneId": "d/w", "taskId": "remember-1"}
    answer = {"summary": "", "removedEntries": [], "touchedTopics": [], "touchedScopes": []}
    desk = open_desk("ForeignAsTold")
    params = RememberParams(content=told(answer | {"purgedTasks": [quoting]}), cwd=str(desk.path))
    call = MemoryCall(acp.REMEMBER, params, ForgetResult)

    assert desk.run(call).purged_tasks is None


def test_deaths_of_the_foreign_child_delay_no_start_of_the_one_beside_it(open_desk):
    desk = open_desk("ForeignHangsInCall")
    for _ in range(3):
        with pytest.raises(AgentTimeout):
            desk.remember(timeout_ms=0)

    companion = desk.bridge._companions.take(str(desk.path))

    assert companion._backoff.remaining_s(boot_ms()) == 0


def test_a_failure_of_the_foreign_child_says_that_memory_may_have_changed(open_desk):
    error = {"code": -32099, "data": {"errorKind": "remember_no_update", "details": "no"}}

    with pytest.raises(DirectAgentFailed) as failure:
        open_desk("ForeignAsTold").remember(json.dumps({"error": error}))

    assert failure.value.error_kind == "remember_no_update"


def test_a_result_is_recorded_once_the_store_is_free(open_desk):
    assert open_desk("ForeignAsTold", resolver="RefusesOneRecord").remember(told(GOOD)).summary == "Saved."


def test_a_result_that_could_not_be_recorded_is_none(open_desk):
    with pytest.raises(DirectAgentFailed) as failure:
        open_desk("ForeignAsTold", resolver="RefusesRecords").remember(told(GOOD))

    assert failure.value.error_kind == "store_busy"


def test_without_a_child_of_ours_the_foreign_one_is_not_asked(open_desk):
    with pytest.raises(AgentUnavailable):
        open_desk("ForeignHangsInCall", resolver="ExitsAtStart").remember()


def test_a_foreign_child_has_the_time_that_is_set_for_it(open_desk):
    with pytest.raises(AgentTimeout):
        open_desk("ForeignHangsInCall", foreign_s=0.1).remember()


def test_a_foreign_child_that_starts_when_the_lease_is_over_is_ended_at_once(open_desk, caller):
    desk = open_desk("ForeignHangsInCall", resolver="TellsWhenItLooks")
    os.mkfifo(desk.path / "looked")
    running = caller.submit(desk.remember)
    until((desk.path / fake_child.STARTED).exists)

    desk.extend(-1)
    assert (desk.path / "looked").read_text() == "looked"

    with pytest.raises(AgentKilled, match="its lease ran out"):
        running.result(10)


def test_a_foreign_child_is_never_told_of_a_purge(open_desk):
    desk = open_desk("ForeignHangsInCall")
    params = ForgetParams(query="tea", cwd=str(desk.path), purge=True)

    with pytest.raises(AgentFailed) as refusal:
        desk.run(MemoryCall(acp.FORGET, params, ForgetResult))

    assert refusal.value.error_kind == "agent_unsupported"
