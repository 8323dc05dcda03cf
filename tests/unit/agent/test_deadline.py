import pytest

from agent.deadline import Deadline
from agent.errors import TaskCancelled, TaskTimeout


def test_a_deadline_that_passed_has_nothing_left() -> None:
    deadline = Deadline.after(-5)

    assert deadline.remaining_ms() == 0
    with pytest.raises(TaskTimeout):
        deadline.check()


def test_a_deadline_ahead_lets_go_on() -> None:
    deadline = Deadline.after(60_000)

    deadline.check()
    assert 50_000 < deadline.remaining_ms() <= 60_000


def test_an_earlier_deadline_is_not_put_off() -> None:
    deadline = Deadline.after(1_000)

    assert deadline.within(60_000) == deadline
    assert deadline.within(10).at_ms < deadline.at_ms


def test_deadlines_made_of_one_are_called_off_together() -> None:
    deadline = Deadline.after(60_000)
    shorter = deadline.within(8_000)

    deadline.cancellation.set("task")

    with pytest.raises(TaskCancelled):
        shorter.check()
    assert shorter.remaining_ms() > 0
