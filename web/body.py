"""From the bytes of a request to a JSON object: content type, size, encoding, charset, syntax."""

import json
import zlib
from collections.abc import Collection
from typing import Any, NoReturn

from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]  # ships no types
from werkzeug.exceptions import ClientDisconnected
from werkzeug.wrappers import Request

from core.acp import MAX_BODY_BYTES
from core.errors import InputError
from web.errors import BodyTimeout, PayloadTooLarge, UnsupportedMediaType
from web.negotiation import JSON_MEDIA

_CHARSETS = frozenset({"utf-8", "utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32le", "utf-32be"})
_WINDOW_BITS = {"gzip": 16 + zlib.MAX_WBITS, "deflate": zlib.MAX_WBITS}
_MAX_DIGITS = 4_000  # Python refuses to read longer integers, JSON has no limit
_INVALID_JSON = "Invalid JSON in request body"


def read_json_object(request: Request) -> dict[str, Any]:
    """Read the body as a JSON object.

    A body of another content type, an empty one and an array count as an empty object, as the
    contract has it; whatever is missing from them is reported by the checks that follow.

    Raises:
        InputError: not JSON, not an object or array, nested too deeply, or not what its encoding says.
        UnsupportedMediaType: unknown charset or content encoding.
        PayloadTooLarge: more than ``MAX_BODY_BYTES`` as sent or inflated; the rest is unread.
        BodyTimeout: the sender stopped before the end.
    """
    if request.mimetype != JSON_MEDIA:
        return {}
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if charset not in _CHARSETS:
        raise UnsupportedMediaType("Unsupported charset")
    raw = _inflate(read_raw(request), (request.content_encoding or "identity").strip().lower())
    return _parse(raw.decode(charset, "replace").removeprefix("\ufeff"))


def read_bytes(request: Request, types: Collection[str]) -> bytes:
    """Read the body as it was sent.

    Args:
        types: content types that it may have.

    Raises:
        UnsupportedMediaType: it has another one, or an encoding on top.
        InputError, PayloadTooLarge, BodyTimeout: as for ``read_json_object``.
    """
    if request.mimetype not in types:
        raise UnsupportedMediaType(f"The body must be {' or '.join(sorted(types))}")
    if (request.content_encoding or "identity").strip().lower() != "identity":
        raise UnsupportedMediaType("Unsupported content encoding")
    return read_raw(request)


def read_raw(request: Request) -> bytes:
    """Read the body as it was sent, whatever it says that it is.

    Raises:
        PayloadTooLarge: more than ``MAX_BODY_BYTES``; the rest is unread.
        BodyTimeout, InputError: the sender stopped before the end, or broke it.
    """
    if (request.content_length or 0) > MAX_BODY_BYTES:
        raise PayloadTooLarge
    try:
        raw = request.stream.read(MAX_BODY_BYTES + 1)
    except TimeoutError:
        raise BodyTimeout from None
    except (ParseException, ClientDisconnected, OSError):
        raise InputError("Malformed request body") from None
    if len(raw) > MAX_BODY_BYTES:
        raise PayloadTooLarge
    return raw


def _inflate(raw: bytes, encoding: str) -> bytes:
    if encoding == "identity" or not raw:
        return raw
    if encoding not in _WINDOW_BITS:
        raise UnsupportedMediaType("Unsupported content encoding")
    inflater = zlib.decompressobj(_WINDOW_BITS[encoding])
    try:
        inflated = inflater.decompress(raw, MAX_BODY_BYTES + 1)
    except zlib.error:
        raise InputError(f"Request body is not valid {encoding}") from None
    if len(inflated) > MAX_BODY_BYTES:
        raise PayloadTooLarge
    if not inflater.eof or inflater.unused_data:
        raise InputError(f"Request body is not valid {encoding}")
    return inflated


def _parse(text: str) -> dict[str, Any]:
    if not text:
        return {}
    try:
        parsed = json.loads(text, parse_constant=_refuse_constant, parse_int=_read_int)
    except (ValueError, RecursionError):
        raise InputError(_INVALID_JSON) from None
    if isinstance(parsed, dict):
        return parsed
    if isinstance(parsed, list):
        return {}
    raise InputError(_INVALID_JSON)


def _read_int(digits: str) -> float | int:
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def _refuse_constant(_name: str) -> NoReturn:
    raise ValueError  # NaN and Infinity are Python's, not JSON's
