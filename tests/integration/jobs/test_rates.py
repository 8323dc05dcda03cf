"""How often a caller may ask: the script that counts, on a real server."""

from uuid import uuid4

import pytest

from core.keys import rate
from events.connect import connect
from jobs.rates import WINDOW_MS, Rates

LIMIT = 3
SHARE_MS = WINDOW_MS // LIMIT  # long enough that no test is slow enough to gain one


@pytest.fixture
def caller() -> str:
    return f"caller-{uuid4()}"


@pytest.fixture
def rates(redis_url: str) -> Rates:
    return Rates(connect(redis_url))


def test_a_rested_caller_may_use_a_whole_minute_at_once_and_no_more(rates: Rates, caller: str):
    quotas = [rates.take(caller, limit=LIMIT) for _ in range(LIMIT + 1)]

    assert [quota.left for quota in quotas] == [2, 1, 0, 0]
    assert [quota.is_exceeded for quota in quotas] == [False, False, False, True]
    assert quotas[0].full_ms == SHARE_MS
    assert 0 < quotas[-1].wait_ms <= SHARE_MS


def test_what_is_refused_is_not_counted(rates: Rates, caller: str):
    first, *_, last = [rates.take(caller, limit=1) for _ in range(5)]

    assert last.wait_ms <= first.full_ms


def test_room_comes_back_at_an_even_rate(redis_url: str, rates: Rates, caller: str):
    redis = connect(redis_url)
    for _ in range(LIMIT):
        rates.take(caller, limit=LIMIT)
    full_ms = float(redis.get(rate(caller)) or 0)

    redis.set(rate(caller), str(full_ms - 1.5 * SHARE_MS))  # as if so much time had passed

    assert [rates.take(caller, limit=LIMIT).is_exceeded for _ in range(2)] == [False, True]


def test_callers_do_not_take_from_each_other(rates: Rates, caller: str):
    assert rates.take(caller, limit=1).left == 0

    assert not rates.take(f"{caller}-2", limit=1).is_exceeded


def test_nothing_is_kept_of_a_caller_that_has_rested(redis_url: str, rates: Rates, caller: str):
    rates.take(caller, limit=LIMIT)

    life_ms = connect(redis_url).pttl(rate(caller))

    assert 0 < life_ms <= SHARE_MS


def test_a_limit_beyond_the_clocks_resolution_counts_true(rates: Rates, caller: str):
    limit = 1_000_000

    quota = rates.take(caller, limit=limit)

    assert (quota.left, quota.is_exceeded) == (limit - 1, False)
