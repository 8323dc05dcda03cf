import pytest

from web.cursor import MAX_EVENT_ID, parse_event_id


@pytest.mark.parametrize(("text", "event_id"), [("0", 0), ("17", 17), (str(MAX_EVENT_ID), MAX_EVENT_ID)])
def test_a_number_is_a_cursor(text: str, event_id: int) -> None:
    assert parse_event_id(text) == event_id


@pytest.mark.parametrize(
    "text", ["", "abc", "-1", "1.5", " 1", "1e3", "٣", str(MAX_EVENT_ID + 1), "1" * 5000]
)
def test_anything_else_counts_as_absent(text: str) -> None:
    assert parse_event_id(text) is None
