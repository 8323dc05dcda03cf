"""The one shape in which an event travels."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.clock import wall_ms

_ASIDE = re.compile(r"([0-9]{1,16}) (\S*) (\{.*\})")


@dataclass(frozen=True, slots=True)
class Envelope:
    """An event as subscribers get it.

    Attributes:
        id: the event's number in its workspace, dense from 1; None for what is not in the log.
        data_json: finished JSON text of the payload, passed on byte for byte.
        originator: client id of who caused it; a label, not a limit on who may read.
        at_ms: epoch milliseconds of the server that wrote it.
    """

    id: int | None
    type: str
    data_json: str
    originator: str | None
    at_ms: int

    @property
    def size_bytes(self) -> int:
        """Bytes of its payload, which is all of it that may be long."""
        return len(self.data_json.encode())

    def to_json(self) -> str:
        """Render the envelope on one line."""
        parts = [] if self.id is None else [f'"id":{self.id}']
        parts += ['"v":1', f'"type":{json.dumps(self.type)}', f'"data":{self.data_json}']
        if self.originator is not None:
            parts.append(f'"originatorClientId":{json.dumps(self.originator)}')
        parts.append(f'"_meta":{{"serverTimestamp":{self.at_ms}}}')
        return "{" + ",".join(parts) + "}"


@dataclass(frozen=True, slots=True)
class Aside:
    """An event that is in no log: for who stands at its place when it happens, and for nobody later.

    Attributes:
        place: id of the newest event in the log at that moment.
    """

    place: int
    envelope: Envelope


def control(event_type: str, data: Mapping[str, Any]) -> Envelope:
    """Make an id-less event about the stream itself."""
    return Envelope(None, event_type, json.dumps(data, separators=(",", ":")), None, wall_ms())


def from_entry(entry_id: str, fields: Mapping[str, str]) -> Envelope:
    """Read a stream entry as the append fragment wrote it."""
    return Envelope(
        id=int(entry_id.partition("-")[0]),
        type=fields["type"],
        data_json=fields["data"],
        originator=fields.get("client"),
        at_ms=int(fields["at"]),
    )


def aside_in(event_type: str, message: str) -> Aside | None:
    """Read an aside as it was published: place, client id or nothing, JSON payload, blanks between.

    None for what is in another shape, as another version of ours may publish it.
    """
    found = _ASIDE.fullmatch(message)
    if found is None:
        return None
    place, client, data_json = found.groups()
    return Aside(int(place), Envelope(None, event_type, data_json, client or None, wall_ms()))
