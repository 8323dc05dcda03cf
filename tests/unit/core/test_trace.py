import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.trace import is_traceparent, trace_id_of

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.mark.parametrize(
    "text", [f"00-{TRACE}-{PARENT}-01", f"00-{TRACE}-{PARENT}-00", f"cc-{TRACE}-{PARENT}-01-what-is-to-come"]
)
def test_a_trace_context_names_its_trace(text: str):
    assert is_traceparent(text)
    assert trace_id_of(text) == TRACE


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"00-{TRACE}-{PARENT}",
        f"00-{TRACE}-{PARENT}-01-more",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{TRACE.upper()}-{PARENT}-01",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{PARENT}-01, 00-{TRACE}-{PARENT}-01",
        f"cc-{TRACE}-{PARENT}-01-{'x' * 300}",
        f"cc-{TRACE}-{PARENT}-01-\u0085",
    ],
)
def test_anything_else_is_none(text: str):
    assert not is_traceparent(text)


@given(st.text(max_size=80))
def test_no_text_is_too_odd_to_be_looked_at(text: str):
    assert not is_traceparent(text) or len(trace_id_of(text) or "") == 32


def test_without_a_trace_context_there_is_no_trace():
    assert trace_id_of(None) is None
