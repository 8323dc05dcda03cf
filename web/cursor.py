"""Where a reader of events stands, as its request says."""

import re
from dataclasses import dataclass
from typing import Final

from werkzeug.wrappers import Request

from web.query import SocketQuery

LAST_EVENT_ID_HEADER: Final = "Last-Event-ID"
EPOCH_HEADER: Final = "X-Qwen-Event-Epoch"
CURSOR_HEADERS: Final = (LAST_EVENT_ID_HEADER, EPOCH_HEADER)
MAX_EVENT_ID = 2**53 - 1  # beyond it JavaScript clients can't count

_EVENT_ID = re.compile(r"[0-9]{1,16}")


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a reader has come.

    Attributes:
        after: the last event that it has; None for one that wants what happens from now on.
        epoch: of the log that ``after`` belongs to; None if it does not say.
    """

    after: int | None
    epoch: str | None


def cursor_of(request: Request) -> Cursor:
    """Read a request for a stream."""
    after = parse_event_id(request.headers.get(LAST_EVENT_ID_HEADER, ""))
    return Cursor(after, request.headers.get(EPOCH_HEADER) or None)


def socket_cursor_of(request: Request, query: SocketQuery) -> Cursor:
    """Read a request for a WebSocket, whose query goes before its headers."""
    cursor = cursor_of(request)
    after = cursor.after if query.last_event_id is None else parse_event_id(query.last_event_id)
    return Cursor(after, query.epoch or cursor.epoch)


def parse_event_id(text: str) -> int | None:
    """Read the id of an event; what can't be one of ours counts as absent."""
    if _EVENT_ID.fullmatch(text) is None or int(text) > MAX_EVENT_ID:
        return None
    return int(text)
