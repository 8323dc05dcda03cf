import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlane.errors import Conflict, QueueFull, RateLimited, TryLater, Unavailable, Unreachable
from memlane.patience import Failure, Limits, Patience, backoff_s

LIMITS = Limits(retry_s=60, place_s=60)
LOST = Unreachable("lost", maybe_arrived=True)
REFUSED = Unreachable("refused", maybe_arrived=False)


def away(status: int = 503, retry_after_s: float | None = None) -> Unavailable:
    return Unavailable("away", status=status, retry_after_s=retry_after_s)


@pytest.mark.parametrize("failure", [LOST, REFUSED, away(502), away(503), away(504)])
def test_what_can_be_repeated_is_tried_again(failure: Failure):
    pause_s = Patience(LIMITS, is_repeatable=True).pause_s(failure)

    assert pause_s is not None
    assert 0 < pause_s <= 0.2


@pytest.mark.parametrize("failure", [LOST, away(502), away(503), away(504)])
def test_what_may_have_been_done_is_not_tried_again_unless_it_can_be_repeated(failure: Failure):
    assert Patience(LIMITS, is_repeatable=False).pause_s(failure) is None


@pytest.mark.parametrize("failure", [REFUSED, RateLimited("x", status=429), TryLater("x", status=429)])
def test_what_was_not_accepted_is_tried_again_in_any_case(failure: Failure):
    assert Patience(LIMITS, is_repeatable=False).pause_s(failure) is not None


@pytest.mark.parametrize("failure", [away(500), away(501), Conflict("x", status=409)])
def test_what_will_not_pass_is_final(failure: Failure):
    assert Patience(LIMITS, is_repeatable=True).pause_s(failure) is None


def test_the_service_says_when_to_come_back():
    patience = Patience(LIMITS, is_repeatable=True)

    assert patience.pause_s(RateLimited("x", status=429, retry_after_s=7)) == 7
    assert patience.pause_s(away(retry_after_s=9)) == 9


def test_a_service_without_room_that_says_no_time_is_given_a_second():
    assert Patience(LIMITS, is_repeatable=True).pause_s(QueueFull("x", status=429)) == 1


def test_a_full_lane_has_a_limit_of_its_own():
    full, busy = QueueFull("x", status=429, retry_after_s=5), RateLimited("x", status=429, retry_after_s=5)

    assert Patience(Limits(retry_s=60, place_s=4), is_repeatable=True).pause_s(full) is None
    assert Patience(Limits(retry_s=4, place_s=60), is_repeatable=True).pause_s(full) == 5
    assert Patience(Limits(retry_s=4, place_s=60), is_repeatable=True).pause_s(busy) is None


def test_no_limit_means_one_try():
    assert Patience(Limits(retry_s=0, place_s=0), is_repeatable=True).pause_s(REFUSED) is None


@given(failures=st.integers(1, 10_000), first_s=st.floats(0.001, 1), most_s=st.floats(1, 60))
def test_a_pause_grows_up_to_a_bound_and_is_never_nothing(failures: int, first_s: float, most_s: float):
    expected_s = min(most_s, first_s * 2 ** min(failures - 1, 16))

    assert expected_s / 2 <= backoff_s(failures, first_s=first_s, most_s=most_s) <= expected_s
