"""What channels keep in Redis, as text and back; what another version wrote is read as far as it goes."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from channels.envelope import Envelope, Target
from channels.inbox import StoredMessage
from channels.ledger import TurnRecord, UnfinishedTurn
from channels.outbox import OutboundPart, PartState
from channels.routes import Route, RouteKey
from core.logs import get_logger
from core.text import encodable
from events.chat.store import StoredPart, StoredTurn

Unreadable = Literal["message", "turn", "part", "routes"]

_T = TypeVar("_T")
_Row = TypeVar("_Row")

_RECORD = TypeAdapter(TurnRecord)
_ROUTES = TypeAdapter(list[tuple[RouteKey, Route]])
_PART = TypeAdapter(tuple[Target, str])

_log = get_logger(__name__)


def message_text(envelope: Envelope) -> str:
    """Render a message."""
    return _text(envelope.to_wire())


def messages_in(rows: Iterable[tuple[str, str]]) -> tuple[StoredMessage, ...]:
    """Read messages of receipts and bodies; see ``_readable``."""
    return _readable("message", rows, _message_in)


def turn_text(turn: TurnRecord) -> str:
    """Render a turn."""
    return _text(_RECORD.dump_python(turn, mode="json"))


def turns_in(rows: Iterable[StoredTurn]) -> tuple[UnfinishedTurn, ...]:
    """Read turns; see ``_readable``."""
    return _readable("turn", rows, _turn_in)


def part_text(part: OutboundPart) -> str:
    """Render a message on its way out."""
    return _text([part.target.to_wire(), part.text])


def parts_in(rows: Iterable[StoredPart]) -> tuple[OutboundPart, ...]:
    """Read messages on their way out; see ``_readable``."""
    return _readable("part", rows, _part_in)


def routes_text(routes: Mapping[RouteKey, Route]) -> str:
    """Render routes."""
    return _text(_ROUTES.dump_python(list(routes.items()), mode="json"))


def routes_in(text: str | None) -> Mapping[RouteKey, Route]:
    """Read routes; none for what can't be read."""
    found = _readable("routes", [text] if text else [], _routes_in)
    return found[0] if found else {}


def _text(value: object) -> str:
    """JSON without what has no bytes, which could be written but not read again."""
    return encodable(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _readable(what: Unreadable, rows: Iterable[_Row], read: Callable[[_Row], _T]) -> tuple[_T, ...]:
    """What can be read; a row that can't is left where it is and told in the log, and holds up no other."""
    found: list[_T] = []
    for row in rows:
        try:
            found.append(read(row))
        except ValidationError as error:
            _log.error("channel_row_unreadable", what=what, faults=error.error_count())
    return tuple(found)


def _message_in(row: tuple[str, str]) -> StoredMessage:
    receipt, body = row
    envelope = Envelope.model_validate_json(body, extra="ignore")
    return StoredMessage(receipt, envelope.model_copy(update={"receipts": (receipt,)}))


def _turn_in(row: StoredTurn) -> UnfinishedTurn:
    record = _RECORD.validate_json(row.body, extra="ignore")
    return UnfinishedTurn(record, is_delivering=row.state == "delivering")


def _part_in(row: StoredPart) -> OutboundPart:
    target, text = _PART.validate_json(row.body, extra="ignore")
    state: PartState = "sending" if row.state == "sending" else "waiting"
    return OutboundPart(row.key, target, text, row.turn_id or None, state)


def _routes_in(text: str) -> Mapping[RouteKey, Route]:
    return dict(_ROUTES.validate_json(text, extra="ignore"))
