"""The ring that all readers of a process share: how much of the log it keeps."""

import pytest

from events.envelope import Envelope
from events.feed import RING_BYTES, RING_SIZE, Feed


def feed_of(*payloads: str) -> Feed:
    feed = Feed()
    feed.extend(Envelope(number, "x", payload, None, 0) for number, payload in enumerate(payloads, 1))
    return feed


def oldest(feed: Feed) -> int:
    return next(number for number in range(1, feed.last_id + 1) if feed.find_after(number - 1))


def test_bytes_are_counted_as_utf_8_from_any_place_on():
    feed = feed_of('"a"', '"\N{GREEK SMALL LETTER MU}"', '"abc"')

    assert [feed.bytes_after(after) for after in range(5)] == [12, 9, 5, 0, 0]


def test_an_event_that_is_there_already_counts_once():
    feed = feed_of('"a"')
    feed.extend([Envelope(1, "x", '"a"', None, 0)])

    assert feed.bytes_after(0) == 3


def test_of_small_events_the_ring_keeps_a_number():
    feed = feed_of(*["1"] * (RING_SIZE + 5))

    assert (oldest(feed), feed.bytes_after(0)) == (6, RING_SIZE)


@pytest.mark.parametrize(
    ("length", "kept"), [(RING_BYTES // 2, 2), (RING_BYTES // 2 - 1, 3), (RING_BYTES, 1)]
)
def test_of_large_events_the_ring_keeps_the_newest_that_make_up_its_bytes(length: int, kept: int):
    feed = feed_of(*["x" * length] * 5)

    assert oldest(feed) == 5 - kept + 1
    assert feed.bytes_after(0) == kept * length
