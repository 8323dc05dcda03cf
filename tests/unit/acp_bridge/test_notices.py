"""Which messages of a child tell how far a task is, and what becomes of all others."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from acp_bridge.notices import MAX_COUNT, MAX_TOOL_CHARS, Notices
from core.acp import Progress
from core.jsonrpc import Notification

TOLD = {"taskId": "remember-1", "turn": 2, "maxTurns": 6, "lastTool": "edit", "filesTouched": 1}
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
JSON = SCALARS | st.lists(SCALARS) | st.dictionaries(st.sampled_from(sorted(TOLD)), SCALARS)


def heard(*params: Any, method: str = "memlane/progress", is_ours: bool = True) -> list[Progress]:
    """What a listener to remember-1 hears of these messages."""
    notices, found = Notices(), list[Progress]()
    with notices.heard_by(found.append, task_id="remember-1"):
        for one in params:
            notices.take(Notification(method, one), pid=1, is_ours=is_ours)
    return found


def test_the_progress_of_a_task_is_heard_in_order():
    told = [TOLD, {"taskId": "remember-1"}, TOLD | {"turn": 3, "later": "key"}]

    assert [progress.turn for progress in heard(*told)] == [2, 0, 3]


def test_the_name_of_a_tool_is_cut():
    (progress,) = heard(TOLD | {"lastTool": "x" * 1_000})

    assert progress.last_tool == "x" * MAX_TOOL_CHARS


def test_the_name_of_a_tool_can_always_be_written():
    (progress,) = heard(TOLD | {"lastTool": "\ud800"})

    assert progress.last_tool == "\ufffd"


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        "text",
        {},
        TOLD | {"taskId": 1},
        TOLD | {"taskId": "remember-2"},
        TOLD | {"turn": -1},
        TOLD | {"turn": "2"},
        TOLD | {"turn": True},
        TOLD | {"maxTurns": MAX_COUNT + 1},
        TOLD | {"filesTouched": 10**4000},
        TOLD | {"lastTool": ["edit"]},
    ],
)
def test_what_can_not_be_its_progress_is_skipped(params: Any):
    assert heard(params) == []


def test_a_foreign_child_tells_nothing():
    assert heard(TOLD, is_ours=False) == []


def test_another_message_is_skipped():
    assert heard(TOLD, method="session/update") == []


def test_who_has_stopped_listening_hears_nothing():
    notices, found = Notices(), list[Progress]()
    with notices.heard_by(found.append, task_id="remember-1"):
        pass

    notices.take(Notification("memlane/progress", TOLD), pid=1, is_ours=True)

    assert found == []


def test_skipped_messages_are_counted_and_logged_ever_more_seldom():
    with capture_logs() as logs:
        heard(*[None] * 1_000)

    assert [line["skipped"] for line in logs] == [2**power for power in range(10)]


@given(JSON)
def test_no_message_does_harm(params: Any):
    assert all(progress.task_id == "remember-1" for progress in heard(params))
