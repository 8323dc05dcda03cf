"""When memory dreams by itself."""

from dataclasses import replace

import pytest

from core.ids import TaskId
from jobs.dreams import DreamRules, due_after
from jobs.tasks import TaskOutline

RULES = DreamRules(every_ms=1_000, min_changes=2)
QUIET = TaskOutline(TaskId("remember-1"), "remember", finished_ms=1)
CHANGE = replace(QUIET, revision="r7")
DREAM = replace(QUIET, id=TaskId("dream-1"), kind="dream", finished_ms=5_000)
PREVIEW = replace(DREAM, id=TaskId("dream-2"), is_preview=True)


def due(*newest_first: TaskOutline, now_ms: int = 6_000) -> str | None:
    return due_after(newest_first, RULES, now_ms=now_ms)


def test_enough_changes_long_enough_after_the_last_dream_make_one_due():
    assert due(CHANGE, QUIET, CHANGE, DREAM) == "dream-1"


def test_without_a_dream_before_changes_are_enough():
    assert due(CHANGE, CHANGE) == "first"


@pytest.mark.parametrize(
    "tasks",
    [
        (),
        (CHANGE, QUIET, DREAM),
        (CHANGE, QUIET),
        (DREAM, CHANGE, CHANGE),
        (CHANGE, CHANGE, replace(DREAM, finished_ms=None)),
        (CHANGE, CHANGE, replace(DREAM, finished_ms=5_001)),
    ],
)
def test_no_dream_is_due(tasks: tuple[TaskOutline, ...]):
    assert due(*tasks) is None


def test_the_pause_counts_from_the_end_of_the_last_dream():
    assert due(CHANGE, CHANGE, DREAM, now_ms=5_999) is None


def test_a_preview_is_no_dream():
    assert due(CHANGE, PREVIEW, CHANGE, DREAM) == "dream-1"
