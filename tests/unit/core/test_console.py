import logging
from typing import Any

import pytest
import structlog

from core.console import MAX_REMEMBERED_STARTS, ConsoleLine, TaskTimes, drop_routine

TASK = "remember-3f0c5f0e-5a0e-4e0e-9d2e-0a4a3c2f1b00"


def line(*, coloured: bool = False, **event: Any) -> str:
    facts = {"timestamp": "14:38:33", "process": "worker", "level": "info", "logger": "jobs.runs", **event}
    return ConsoleLine(coloured=coloured)(None, "", facts)


def test_a_task_that_ended_is_one_short_line():
    assert line(event="task_ended", task=TASK, status="completed", seconds=0.31) == (
        "14:38:33 completed remember-3f0c… 0.3 s"
    )


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        ({"status": "failed", "code": "remember_timeout"}, "failed remember-3f0c… (remember_timeout)"),
        ({"status": "queued", "cause": "store_busy"}, "handed back remember-3f0c… (store_busy)"),
    ],
)
def test_why_a_task_did_not_complete_is_in_its_line(facts, shown):
    assert line(event="task_ended", task=TASK, **facts) == f"14:38:33 {shown}"


def test_a_warning_says_so_with_its_facts():
    shown = line(event="model_try_failed", level="warning", reason="HTTP 429", number=1, tools=["a"])

    assert shown == '14:38:33 worker warning: model_try_failed reason="HTTP 429" number=1 tools=["a"]'


def test_colour_marks_what_is_wrong_and_nothing_else():
    assert "\x1b[33mwarning\x1b[0m: " in line(event="x", level="warning", coloured=True)
    assert "\x1b" not in line(event="x", coloured=True)
    assert "\x1b" not in line(event="x", level="warning")


def test_a_traceback_follows_its_line():
    assert line(event="broken", level="error", exception="Traceback\n  deep") == (
        "14:38:33 worker error: broken\nTraceback\n  deep"
    )


def test_what_a_child_says_is_shown_as_it_is_but_can_not_steer_the_terminal():
    shown = line(event="agent_stderr", process="agent", pid=1, line="can't\x1b[2J go on")

    assert shown == "14:38:33 agent: can't [2J go on"


def test_how_long_a_task_ran_is_measured_from_its_start():
    times = TaskTimes()

    times(None, "", {"event": "task_started", "task": TASK})
    ended = times(None, "", {"event": "task_ended", "task": TASK})
    again = times(None, "", {"event": "task_ended", "task": TASK})

    assert ended["seconds"] >= 0
    assert "seconds" not in again


def test_starts_without_an_end_are_forgotten_in_time():
    times = TaskTimes()

    for number in range(MAX_REMEMBERED_STARTS + 1):
        times(None, "", {"event": "task_started", "task": str(number)})

    assert "seconds" not in times(None, "", {"event": "task_ended", "task": "0"})
    assert "seconds" in times(None, "", {"event": "task_ended", "task": "1"})


@pytest.fixture
def root_level():
    root = logging.getLogger()
    before = root.level
    yield root.setLevel
    root.setLevel(before)


def test_routine_is_left_out_unless_it_is_asked_for(root_level):
    routine = {"event": "request_answered", "level": "info"}

    root_level(logging.INFO)
    with pytest.raises(structlog.DropEvent):
        drop_routine(None, "", dict(routine))
    assert drop_routine(None, "", routine | {"level": "warning"})
    assert drop_routine(None, "", routine | {"event": "task_ended"})

    root_level(logging.DEBUG)
    assert drop_routine(None, "", dict(routine)) == routine
