"""What another child does by itself, as the real child of ours sees and records it."""

from pathlib import Path
from typing import Any

import pytest

from core import acp
from core.ids import TaskId, new_task_id
from tests.support.agent_child import LANE, AgentChild, assert_failed, task_params
from tests.support.scripted_model import document

RESULT = {"summary": "Saved it.", "filesTouched": ["/m/of-its-own.md"], "touchedScopes": ["project"]}


@pytest.fixture
def task() -> TaskId:
    return new_task_id("remember")


def snapshot(child: AgentChild, task: TaskId, *, fence: int = 1) -> Any:
    return child.call(acp.SNAPSHOT, task_params(child, "remember", task=task, fence=fence, client="client_a"))


def record(child: AgentChild, task: TaskId, result: dict[str, Any]) -> Any:
    return child.call(acp.RECORD, task_params(child, "remember", task=task, result=result))


def resolve(child: AgentChild, task: TaskId, *, close: bool = True) -> Any:
    params = {"cwd": "", "taskId": task, "laneId": LANE, "fence": 1, "close": close}
    return child.call(acp.RESOLVE, params)


def write(child: AgentChild) -> Path:
    file = child.user_root / "user" / "tea.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(document(name="Tea"))
    return file


def test_where_memory_changed_is_told_as_it_is_found(offline: AgentChild, task: TaskId):
    assert snapshot(offline, task) == {}
    file = write(offline)

    result = record(offline, task, RESULT)

    assert result == {
        "summary": "Saved it.",
        "filesTouched": [str(file)],
        "touchedScopes": ["user"],
        "revision": "r1",
    }
    assert record(offline, task, RESULT) == result
    assert snapshot(offline, task) == {"result": result}
    assert resolve(offline, task) == {"result": result}


def test_a_child_that_changed_nothing_has_no_revision_whatever_it_says(offline: AgentChild, task: TaskId):
    snapshot(offline, task)

    result = record(offline, task, RESULT)

    assert result == {"summary": "Saved it.", "filesTouched": [], "touchedScopes": []}


def test_a_secret_in_a_summary_is_not_recorded(offline: AgentChild, task: TaskId):
    snapshot(offline, task)
    key = "AKIA" + "Q7ZJ3M5XW2RT8KLV"

    entry = {"topic": "user", "summary": f"uses {key}", "filePath": "/m/a.md"}
    result = RESULT | {"summary": f"Saved {key}.", "removedEntries": [entry]}

    recorded = record(offline, task, result)

    assert key not in str(recorded)
    assert recorded["removedEntries"][0]["filePath"] == "/m/a.md"


def test_a_task_that_has_begun_begins_and_runs_no_more(offline: AgentChild, task: TaskId):
    snapshot(offline, task)

    assert_failed(snapshot(offline, task, fence=2), "task_closed", method="snapshot")
    assert_failed(offline.remember("I prefer tea.", task=task, fence=2), "task_closed")


def test_what_a_task_without_a_result_left_is_told_by_resolve(offline: AgentChild, task: TaskId):
    snapshot(offline, task)
    write(offline)
    remains = {"revision": "r1", "touchedScopes": ["user"]}

    assert resolve(offline, task, close=False) == {"result": None}
    assert resolve(offline, task) == {"result": None, "remains": remains}
    assert resolve(offline, task) == {"result": None, "remains": remains}
    assert_failed(record(offline, task, RESULT), "task_closed", method="record")


def test_a_record_needs_a_result_and_a_snapshot(offline: AgentChild, task: TaskId):
    refused = offline.call(acp.RECORD, task_params(offline, "remember", task=task))

    assert (refused.error_code, refused.message) == (-32602, "Invalid params: Invalid result")
    assert_failed(record(offline, task, RESULT), "lease_lost", method="record")
    assert snapshot(offline, task) == {}
