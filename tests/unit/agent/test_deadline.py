import pytest

from agent.deadline import Deadline
from agent.errors import TaskTimeout


def test_a_deadline_that_passed_has_nothing_left() -> None:
    deadline = Deadline.after(-5)

    assert deadline.remaining_ms() == 0
    with pytest.raises(TaskTimeout):
        deadline.check()


def test_a_deadline_ahead_lets_go_on() -> None:
    deadline = Deadline.after(60_000)

    deadline.check()
    assert 50_000 < deadline.remaining_ms() <= 60_000
