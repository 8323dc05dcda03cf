import pytest

from agent.cancellation import Cancellation
from agent.errors import TaskCancelled


def test_what_was_not_called_off_goes_on() -> None:
    cancellation = Cancellation()

    cancellation.check()
    assert cancellation.named is None


def test_what_was_called_off_first_is_remembered() -> None:
    cancellation = Cancellation()

    cancellation.set("request")
    cancellation.set("task")

    assert cancellation.named == "request"
    with pytest.raises(TaskCancelled):
        cancellation.check()


def test_who_waits_is_woken_once() -> None:
    cancellation, woken = Cancellation(), []

    with cancellation.waking(lambda: woken.append("up")):
        cancellation.set("task")
        cancellation.set("task")

    assert woken == ["up"]


def test_who_begins_to_wait_too_late_is_woken_at_once() -> None:
    cancellation, woken = Cancellation(), []
    cancellation.set("task")

    with cancellation.waking(lambda: woken.append("up")):
        assert woken == ["up"]


def test_who_waits_no_longer_is_left_alone() -> None:
    cancellation, woken = Cancellation(), []
    with cancellation.waking(lambda: woken.append("up")):
        pass

    cancellation.set("task")

    assert woken == []
