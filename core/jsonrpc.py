"""JSON-RPC 2.0 as newline-delimited JSON: pure parsing and rendering, no IO.

Used by both ends of an ACP connection, the bridge and the agent child.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import DependencyError

MAX_FRAME_BYTES = 32 * 1024 * 1024

INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603


class FrameTooLarge(DependencyError):
    """The peer sent a line over the limit; the connection is out of step and must be closed."""

    code = "frame_too_large"


@dataclass(frozen=True, slots=True)
class Request:
    """A call that wants an answer."""

    id: int | str
    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that wants no answer."""

    method: str
    params: Any


@dataclass(frozen=True, slots=True)
class Response:
    """A successful answer."""

    id: int | str
    result: Any


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """A failed answer.

    Attributes:
        id: None when the peer could not tell which request failed.
    """

    id: int | str | None
    error_code: int
    message: str
    data: Any


@dataclass(frozen=True, slots=True)
class Junk:
    """A line that is no JSON-RPC message; count it, skip it, never answer it."""

    size_bytes: int


Message = Request | Notification | Response | ErrorResponse | Junk


class LineSplitter:
    """Cut a byte stream into lines, in order, holding at most one unfinished line."""

    def __init__(self, max_bytes: int = MAX_FRAME_BYTES) -> None:
        """Make a splitter that refuses lines over ``max_bytes``."""
        self._max_bytes = max_bytes
        self._rest = bytearray()

    def feed(self, chunk: bytes) -> list[bytes]:
        """Add bytes and return the lines that they complete, without their newline, blank ones left out.

        Raises:
            FrameTooLarge: an unfinished or finished line is over the limit.
        """
        scanned = len(self._rest)
        self._rest += chunk
        lines: list[bytes] = []
        start = 0
        while (end := self._rest.find(b"\n", max(start, scanned))) >= 0:
            self._check_size(end - start)
            lines.append(bytes(self._rest[start:end]))
            start = end + 1
        del self._rest[:start]
        self._check_size(len(self._rest))
        return [line for line in lines if line.strip()]

    def _check_size(self, size_bytes: int) -> None:
        if size_bytes > self._max_bytes:
            raise FrameTooLarge(f"a line of over {self._max_bytes} bytes was received")


def parse(line: bytes) -> Message:
    """Read one line; anything that is not a JSON-RPC message is ``Junk``."""
    try:
        body = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return Junk(len(line))
    if not isinstance(body, dict):
        return Junk(len(line))
    return _message(body) or Junk(len(line))


def _message(body: Mapping[str, Any]) -> Message | None:
    message_id = body.get("id")
    known_id = isinstance(message_id, int | str) and not isinstance(message_id, bool)
    method = body.get("method")
    if isinstance(method, str):
        return _call(message_id if known_id else None, method, body)
    if "error" in body:
        return _error(message_id if known_id else None, body["error"])
    if known_id and "result" in body:
        return Response(body["id"], body["result"])
    return None


def _call(message_id: int | str | None, method: str, body: Mapping[str, Any]) -> Message:
    if message_id is None:
        return Notification(method, body.get("params"))
    return Request(message_id, method, body.get("params"))


def _error(message_id: int | str | None, error: Any) -> ErrorResponse:
    if not isinstance(error, dict):
        return ErrorResponse(message_id, INTERNAL_ERROR, "", None)
    code = error.get("code")
    return ErrorResponse(
        message_id,
        code if isinstance(code, int) else INTERNAL_ERROR,
        str(error.get("message", "")),
        error.get("data"),
    )


def request(message_id: int | str, method: str, params: Mapping[str, Any]) -> bytes:
    """Render a call; ``params`` is always present (the reference child fails without it)."""
    return _line({"jsonrpc": "2.0", "id": message_id, "method": method, "params": params})


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    """Render a message that wants no answer."""
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def response(message_id: int | str, result: Any) -> bytes:
    """Render a successful answer."""
    return _line({"jsonrpc": "2.0", "id": message_id, "result": result})


def error_response(message_id: int | str, *, error_code: int, message: str, data: Any = None) -> bytes:
    """Render a failed answer; ``data`` is left out when None."""
    error = {"code": error_code, "message": message} | ({} if data is None else {"data": data})
    return _line({"jsonrpc": "2.0", "id": message_id, "error": error})


def _line(body: Mapping[str, Any]) -> bytes:
    # ensure_ascii keeps lone surrogates representable and the frame on one line
    return json.dumps(body, separators=(",", ":")).encode("ascii") + b"\n"
