import pytest
from hypothesis import given
from hypothesis import strategies as st

from web.preference import MAX_WAIT_S, wait_in


@pytest.mark.parametrize(
    ("prefer", "wait_s"),
    [
        ("wait=10", 10),
        ("WAIT = 10", 10),
        ('wait="10"', 10),
        ("wait=0", 0),
        ("wait=61", MAX_WAIT_S),
        ("wait=999999999", MAX_WAIT_S),
        ("wait=" + "9" * 5000, MAX_WAIT_S),  # more digits than Python reads
        ("wait=000000000005", 5),
        ("wait=000", 0),
        ("respond-async, wait=5", 5),
        ("wait=5; strict, wait=9", 5),
        ("wait=5, wait=9", 5),
        ('foo="a, wait=9", wait=5', 5),
    ],
)
def test_a_wish_to_wait_is_read_and_clipped(prefer: str, wait_s: int) -> None:
    assert wait_in(prefer) == wait_s


@pytest.mark.parametrize(
    "prefer",
    ["", "wait", "wait=", "wait=-1", "wait=1.5", "wait=ten", "wait=1e3", "await=5", "wait=٣", 'wait="5'],
)
def test_anything_else_is_ignored(prefer: str) -> None:
    assert wait_in(prefer) is None


@given(st.text(max_size=60))
def test_no_header_is_too_odd_to_be_read(prefer: str) -> None:
    wait_s = wait_in(prefer)

    assert wait_s is None or 0 <= wait_s <= MAX_WAIT_S
