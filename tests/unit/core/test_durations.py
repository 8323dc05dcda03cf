from datetime import timedelta

import pytest

from core.durations import parse_duration


def test_a_number_and_its_unit_are_a_length_of_time():
    read = [parse_duration(text) for text in ("5s", "90m", "24h", "90d")]

    assert read == [timedelta(seconds=5), timedelta(minutes=90), timedelta(days=1), timedelta(days=90)]


@pytest.mark.parametrize("text", ["", "5", "d", "-1d", "1.5h", "1 d", "1w", "1d2h", "1234567890s"])
def test_anything_else_is_none(text):
    assert parse_duration(text) is None
