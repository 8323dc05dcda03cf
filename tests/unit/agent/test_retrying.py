import time

import pytest

from agent.models.retrying import FIRST_PAUSE_MS, backoff_ms, retry_after_ms

NOON_MS = 1_767_268_800_000  # Thu, 01 Jan 2026 12:00:00 GMT


@pytest.mark.parametrize(
    ("text", "wait_ms"),
    [
        ("0.4", 400),
        ("3600", 3_600_000),
        ("-5", 0),
        ("Thu, 01 Jan 2026 12:00:02 GMT", 2_000),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0),
        ("-1e300", 0),
        ("1e9", 1_000_000_000_000),
    ],
)
def test_seconds_and_dates_say_how_long_to_wait(text: str, wait_ms: int) -> None:
    assert retry_after_ms(text, now_ms=NOON_MS) == wait_ms


@pytest.mark.parametrize(
    "text", ["", "soon", "nan", "inf", "-Infinity", "1e999", "Thu, 99 Jan 2026 12:00:00 GMT"]
)
def test_what_can_not_be_read_says_nothing(text: str) -> None:
    assert retry_after_ms(text, now_ms=NOON_MS) is None


@pytest.mark.parametrize("text", ["Thu Jan  1 12:00:02 2026", "Thu, 01 Jan 2026 12:00:02 -0000"])
def test_a_date_without_a_zone_is_in_gmt_wherever_the_machine_is(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert retry_after_ms(text, now_ms=NOON_MS) == 2_000
    finally:
        monkeypatch.undo()
        time.tzset()


def test_our_own_pause_doubles_with_each_try() -> None:
    for tries in (1, 2, 3):
        longest_ms = FIRST_PAUSE_MS * 2 ** (tries - 1)

        assert longest_ms / 2 <= backoff_ms(tries) <= longest_ms
