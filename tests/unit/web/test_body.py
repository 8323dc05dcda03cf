import gzip
import zlib
from io import BytesIO, RawIOBase
from typing import Any

import pytest
from gunicorn.http.errors import InvalidChunkSize  # type: ignore[import-untyped]  # ships no types
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from core.acp import MAX_BODY_BYTES
from core.errors import InputError
from web.body import read_json_object
from web.errors import BodyTimeout, PayloadTooLarge, UnsupportedMediaType


def parse(body: bytes, content_type: str = "application/json", **headers: str) -> dict[str, Any]:
    builder = EnvironBuilder(
        method="POST", data=body, content_type=content_type, headers=list(headers.items())
    )
    return read_json_object(Request(builder.get_environ()))


class Broken(RawIOBase):
    """A connection that fails while the body is read."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def read(self, size: int = -1) -> bytes:
        raise self._error


def parse_broken(error: Exception) -> dict[str, Any]:
    environ = EnvironBuilder(method="POST", content_type="application/json").get_environ()
    environ |= {"wsgi.input": Broken(error), "wsgi.input_terminated": True}
    return read_json_object(Request(environ))


def test_an_object_is_read() -> None:
    assert parse(b'{"a": [1, "\\ud83d\\ude00"], "a": 2}') == {"a": 2}


def test_an_integer_longer_than_python_reads_is_json_none_the_less() -> None:
    assert parse(b'{"content": "a fact", "n": ' + b"9" * 5_000 + b"}")["content"] == "a fact"


@pytest.mark.parametrize("body", [b"", b"[]", b'["content"]'])
def test_nothing_and_arrays_count_as_an_empty_object(body: bytes) -> None:
    assert parse(body) == {}


@pytest.mark.parametrize("content_type", ["text/plain", "application/vnd.api+json", "", "application/jsonx"])
def test_other_content_types_count_as_an_empty_object(content_type: str) -> None:
    assert parse(b'{"a":1}', content_type) == {}


@pytest.mark.parametrize(
    "content_type",
    ["application/json", "Application/JSON ; charset=UTF-8", 'application/json; charset="utf-8"'],
)
def test_the_content_type_may_be_written_in_many_ways(content_type: str) -> None:
    assert parse(b'{"a":1}', content_type) == {"a": 1}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"null",
        b"5",
        b"true",
        b'"x"',
        b" ",
        b"{} x",
        b"{}{}",
        b'{"a":NaN}',
        b"[Infinity]",
        b"{'a':1}",
        b"[" * 5000,
        b"1" * 5000,
    ],
)
def test_what_is_no_json_object_or_array_is_refused(body: bytes) -> None:
    with pytest.raises(InputError, match="Invalid JSON in request body"):
        parse(body)


@pytest.mark.parametrize("charset", ["utf-16", "utf-16le", "utf-16be", "utf-32", "UTF-8"])
def test_unicode_charsets_are_read(charset: str) -> None:
    assert parse('{"a":"ä"}'.encode(charset), f"application/json; charset={charset}") == {"a": "ä"}


def test_a_byte_order_mark_is_skipped() -> None:
    assert parse(b'\xef\xbb\xbf{"a":1}') == {"a": 1}
    assert parse(b"\xff\xfe{\x00}\x00", "application/json; charset=utf-16le") == {}


def test_bytes_that_are_not_of_the_charset_are_replaced() -> None:
    assert parse(b'{"a":"\xff"}') == {"a": "\ufffd"}


@pytest.mark.parametrize("charset", ["latin1", "utf-7", "utf8", "x"])
def test_other_charsets_are_refused(charset: str) -> None:
    with pytest.raises(UnsupportedMediaType):
        parse(b"{}", f"application/json; charset={charset}")


def test_compressed_bodies_are_read() -> None:
    assert parse(gzip.compress(b'{"a":1}'), content_encoding="gzip") == {"a": 1}
    assert parse(zlib.compress(b'{"a":1}'), content_encoding=" Deflate ") == {"a": 1}
    assert parse(b'{"a":1}', content_encoding="identity") == {"a": 1}
    assert parse(b"", content_encoding="gzip") == {}


@pytest.mark.parametrize("encoding", ["br", "foo", "gzip, gzip"])
def test_other_content_encodings_are_refused(encoding: str) -> None:
    with pytest.raises(UnsupportedMediaType):
        parse(b"{}", content_encoding=encoding)


EMPTY_OBJECT = gzip.compress(b"{}", mtime=0)  # without the time, which would name the test


@pytest.mark.parametrize("body", [b"notgzip", EMPTY_OBJECT[:-4], EMPTY_OBJECT + b"x"])
def test_a_corrupt_compression_is_refused(body: bytes) -> None:
    with pytest.raises(InputError, match="not valid gzip"):
        parse(body, content_encoding="gzip")


def test_a_body_that_inflates_beyond_the_limit_is_refused() -> None:
    bomb = gzip.compress(b" " * (MAX_BODY_BYTES + 1))

    with pytest.raises(PayloadTooLarge):
        parse(bomb, content_encoding="gzip")


def test_a_body_over_the_limit_is_refused_by_its_length() -> None:
    environ = EnvironBuilder(method="POST", content_type="application/json").get_environ()
    environ |= {"CONTENT_LENGTH": str(MAX_BODY_BYTES + 1), "wsgi.input": Broken(AssertionError())}

    with pytest.raises(PayloadTooLarge):
        read_json_object(Request(environ))


def test_a_body_of_untold_length_is_refused_once_it_is_over_the_limit() -> None:
    environ = EnvironBuilder(method="POST", content_type="application/json").get_environ()
    environ |= {"wsgi.input": BytesIO(b" " * (MAX_BODY_BYTES + 2)), "wsgi.input_terminated": True}

    with pytest.raises(PayloadTooLarge):
        read_json_object(Request(environ))


def test_a_sender_that_stops_is_told_so() -> None:
    with pytest.raises(BodyTimeout):
        parse_broken(TimeoutError())


@pytest.mark.parametrize("error", [ConnectionResetError(), InvalidChunkSize(b"zz")])
def test_a_broken_transfer_is_the_senders_fault(error: Exception) -> None:
    with pytest.raises(InputError, match="Malformed request body"):
        parse_broken(error)
