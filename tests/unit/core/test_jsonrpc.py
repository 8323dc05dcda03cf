import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.jsonrpc import (
    ErrorResponse,
    FrameTooLarge,
    Junk,
    LineSplitter,
    Notification,
    Request,
    Response,
    error_response,
    notification,
    parse,
    request,
    response,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


@given(st.lists(st.binary(min_size=1).map(lambda line: line.replace(b"\n", b".")), max_size=8), st.data())
def test_lines_come_out_whole_and_in_order_however_they_arrive(lines: list[bytes], data: st.DataObject):
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=5)))
    splitter = LineSplitter()

    found = [
        line
        for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)
        for line in splitter.feed(stream[start:end])
    ]

    assert found == [line for line in lines if line.strip()]


def test_a_line_over_the_limit_is_refused_finished_or_not():
    with pytest.raises(FrameTooLarge):
        LineSplitter(max_bytes=3).feed(b"abcd\n")
    with pytest.raises(FrameTooLarge):
        LineSplitter(max_bytes=3).feed(b"abcd")
    assert LineSplitter(max_bytes=3).feed(b"abc\nab") == [b"abc"]


@given(st.integers() | st.text(), st.text(), st.dictionaries(st.text(), json_values))
def test_what_is_rendered_reads_back(message_id: int | str, method: str, params: dict[str, object]):
    assert parse(request(message_id, method, params)) == Request(message_id, method, params)
    assert parse(notification(method, params)) == Notification(method, params)
    assert parse(response(message_id, params)) == Response(message_id, params)


def test_an_error_reads_back_with_its_data():
    line = error_response(7, error_code=-32099, message="no", data={"errorKind": "remember_failed"})

    assert parse(line) == ErrorResponse(7, -32099, "no", {"errorKind": "remember_failed"})
    assert "data" not in json.loads(error_response(7, error_code=-1, message="no"))["error"]


def test_an_error_for_no_known_request_has_no_id():
    assert parse(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}') == ErrorResponse(
        None, -32700, "m", None
    )


def test_an_error_in_a_wrong_shape_is_still_an_error():
    assert parse(b'{"id":1,"error":"broken"}') == ErrorResponse(1, -32603, "", None)
    assert parse(b'{"id":1,"error":{"code":"x"}}') == ErrorResponse(1, -32603, "", None)


@pytest.mark.parametrize(
    "line",
    [
        b"{not json",
        b"[]",
        b"123",
        b"null",
        b'"text"',
        b'{"jsonrpc":"2.0","id":900}',
        b'{"id":[1],"result":1}',
        b'{"id":true,"result":1}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_other_lines_are_junk(line: bytes):
    assert parse(line) == Junk(len(line))


@given(st.binary())
def test_no_line_breaks_the_parser(line: bytes):
    parse(line)


def test_a_frame_is_one_ascii_line_even_with_a_lone_surrogate():
    frame = request(1, "m", {"text": "\ud800 \u2028 é\n"})

    assert frame.isascii()
    assert frame.count(b"\n") == 1
