import httpx2

from core import clock
from memlane.errors import RateLimited, Unreachable
from memlane.pace import Pace

PLAIN = httpx2.Response(200)
HELD = httpx2.Response(200, headers={"Preference-Applied": "wait"})


def pace(*, left_s: float = 3600, is_watched: bool = False) -> Pace:
    return Pace(clock.boot_ms() + int(left_s * 1000), is_watched=is_watched)


def test_a_service_that_holds_its_answers_back_is_asked_again_at_once():
    asking = pace()
    for _ in range(50):
        asking.answered(HELD, is_news=False)

    assert asking.pause_s() == 0.05


def test_a_service_that_does_not_is_asked_less_often_until_there_is_news():
    asking = pace()
    for _ in range(50):
        asking.answered(PLAIN, is_news=False)
    assert asking.pause_s() == 1

    asking.answered(PLAIN, is_news=True)

    assert asking.pause_s() == 0.05


def test_a_service_that_is_away_is_asked_less_often_and_one_that_says_when_is_asked_then():
    asking = pace()
    asking.failed(Unreachable("x"))
    assert 0.05 < asking.pause_s() < 1

    asking.failed(RateLimited("x", status=429, retry_after_s=7))

    assert asking.pause_s() == 7


def test_who_wants_to_know_of_progress_has_shorter_answers():
    assert (pace().hold_s(), pace(is_watched=True).hold_s()) == (30, 1)


def test_nothing_lasts_longer_than_the_deadline():
    assert pace(left_s=2.5).hold_s() == 2
    assert pace(left_s=-1).hold_s() == 0
    assert pace(left_s=-1).pause_s() == 0
    assert (pace(left_s=-1).is_over, pace(left_s=9).is_over) == (True, False)
