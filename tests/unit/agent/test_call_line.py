from dataclasses import dataclass, field

from agent.call_line import CallLine
from agent.cancellation import Cancellation


@dataclass(frozen=True)
class Named:
    name: str
    cancellation: Cancellation = field(default_factory=Cancellation, compare=False)


def line_of(*names: str) -> tuple[CallLine[Named], list[Named]]:
    line: CallLine[Named] = CallLine(max_waiting=3)
    calls = [Named(name) for name in names]
    for call in calls:
        assert line.put(call)
    return line, calls


def test_calls_come_in_the_order_in_which_they_were_put() -> None:
    line, calls = line_of("a", "b")

    assert [line.take(), line.take()] == calls


def test_nobody_waits_longer_than_asked_for_a_call() -> None:
    line, _ = line_of()

    assert line.take(timeout_s=0) is None


def test_one_call_too_many_is_not_taken() -> None:
    line, _ = line_of("a", "b", "c")

    assert not line.put(Named("d"))
    line.take()
    assert line.put(Named("d"))


def test_a_line_is_busy_until_its_last_call_has_been_answered() -> None:
    line, _ = line_of("a")

    assert line.is_busy
    line.take()
    assert line.is_busy
    line.finish()
    assert not line.is_busy


def test_a_waiting_call_that_is_called_off_is_taken_out() -> None:
    line, (first, second, third) = line_of("a", "b", "c")

    withdrawal = line.withdraw(lambda call: call.name == "b", named="task")

    assert (withdrawal.waiting, withdrawal.is_running, bool(withdrawal)) == ((second,), False, True)
    assert [one.cancellation.named for one in (first, second, third)] == [None, "task", None]
    assert [line.take(), line.take()] == [first, third]


def test_the_call_that_runs_is_told_and_stays_where_it_is() -> None:
    line, (first,) = line_of("a")
    line.take()

    withdrawal = line.withdraw(lambda call: call.name == "a", named="request")

    assert (withdrawal.waiting, withdrawal.is_running) == ((), True)
    assert first.cancellation.named == "request"
    assert line.is_busy


def test_calling_off_what_is_not_there_does_nothing() -> None:
    line, (first,) = line_of("a")
    line.take()
    line.finish()

    assert not line.withdraw(lambda call: call.name == "a", named="task")
    assert first.cancellation.named is None
