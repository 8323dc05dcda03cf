"""How long polling waits after failures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram.error import NetworkError, TimedOut

from channels.adapters.telegram.api import ApiRefused
from channels.adapters.telegram.backoff import Backoff, Fault, fault_of

CONFLICT = Fault("conflict", "409")
OTHER = Fault("other", "500")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ApiRefused(401, "Unauthorized"), "token"),
        (ApiRefused(404, "Not Found"), "token"),
        (ApiRefused(409, "Conflict"), "conflict"),
        (ApiRefused(429, "Too Many Requests", retry_after_s=3), "throttled"),
        (ApiRefused(500, ""), "other"),
        (TimedOut(), "other"),
        (NetworkError("httpx.ReadError: somewhere"), "other"),
    ],
)
def test_each_failure_means_something(error, kind):
    assert fault_of(error).kind == kind


def test_conflicts_wait_longer_than_telegram_holds_a_poll():
    backoff = Backoff(conflicts=9)

    assert backoff.after(CONFLICT).pause_ms(CONFLICT, poll_timeout_s=30, jitter=0) == 31_000


def test_conflicts_never_wait_less_than_five_seconds():
    assert Backoff().after(CONFLICT).pause_ms(CONFLICT, poll_timeout_s=1, jitter=0) == 5_000


def test_what_telegram_asks_for_counts():
    fault = fault_of(ApiRefused(429, "Too Many Requests", retry_after_s=41))

    assert Backoff().after(fault).pause_ms(fault, poll_timeout_s=30, jitter=0) == 41_000


@given(st.integers(1, 10_000), st.floats(0, 1))
def test_other_failures_wait_at_most_a_minute_and_never_nothing(count, jitter):
    pause_ms = Backoff(others=count).pause_ms(OTHER, poll_timeout_s=30, jitter=jitter)

    assert 500 <= pause_ms <= 60_000
