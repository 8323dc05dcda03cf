"""The headers that requests and answers carry: what is in them, and what a bad one is refused with."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from channels.adapters.slack import signature as slack
from channels.adapters.webhook.signature import DELIVERY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER
from core.errors import InputError, MemlaneError
from events.errors import InvalidClientId
from web.client_id import CLIENT_ID_HEADER
from web.cursor import EPOCH_HEADER, LAST_EVENT_ID_HEADER
from web.door import REQUEST_ID_HEADER, TRACEPARENT_HEADER
from web.errors import InvalidIdempotencyKey, PreconditionFailed
from web.handshake import WEBSOCKET_VERSION
from web.idempotency import IDEMPOTENCY_HEADER, IDEMPOTENCY_KEY_PATTERN, REPLAYED_HEADER
from web.interface.shapes import COMPONENTS
from web.preference import APPLIED_HEADER, PREFER_HEADER
from web.relay import STREAM_ID_HEADER
from web.throttle import LIMIT_HEADER, POLICY_HEADER

_UUID = {"type": "string", "format": "uuid"}
_TEXT = {"type": "string"}


@dataclass(frozen=True, slots=True)
class RequestHeader:
    """A header that a request may carry.

    Attributes:
        refusals: what a bad one is refused with.
    """

    description: str
    schema: Mapping[str, Any]
    refusals: tuple[type[MemlaneError], ...] = ()


REQUEST_HEADERS: Mapping[str, RequestHeader] = MappingProxyType(
    {
        REQUEST_ID_HEADER: RequestHeader(
            "Names the request in logs; replaced unless it is 1 to 128 of `A-Z a-z 0-9 . _ : -`.", _TEXT
        ),
        CLIENT_ID_HEADER: RequestHeader(
            "Who asks: a registered client id; empty counts as absent.",
            {"type": "string", "pattern": r"^[A-Za-z0-9._:\-]{0,128}$"},
            (InvalidClientId,),
        ),
        TRACEPARENT_HEADER: RequestHeader(
            "W3C trace context; told back, logged and kept with a task. A malformed one is ignored.", _TEXT
        ),
        IDEMPOTENCY_HEADER: RequestHeader(
            "Tells a request that is sent again: for 24 hours it gives the same task.",
            {"type": "string", "pattern": f"^{IDEMPOTENCY_KEY_PATTERN}$"},
            (InvalidIdempotencyKey,),
        ),
        PREFER_HEADER: RequestHeader(
            "`wait=N`: answer once the task has ended, or is another than `If-None-Match` names, or after N "
            "seconds, 60 at most. Other wishes are ignored.",
            _TEXT,
        ),
        "If-None-Match": RequestHeader("The `ETag` of what the caller has already.", _TEXT),
        "If-Match": RequestHeader(
            "`*`, or nothing that could be met: an `ETag` here is a weak one.", _TEXT, (PreconditionFailed,)
        ),
        LAST_EVENT_ID_HEADER: RequestHeader(
            "The last event that was seen; those after it are replayed. What is no id counts as absent.",
            _TEXT,
        ),
        EPOCH_HEADER: RequestHeader("The log that `Last-Event-ID` belongs to.", _TEXT),
        TIMESTAMP_HEADER: RequestHeader("When it was signed, epoch seconds; good for five minutes.", _TEXT),
        DELIVERY_HEADER: RequestHeader("Names the delivery; the same again is a repeat.", _TEXT),
        SIGNATURE_HEADER: RequestHeader(
            "`sha256=` and the HMAC-SHA256 of `<timestamp>.<raw body>` in hex, with the channel's token.",
            _TEXT,
        ),
        slack.TIMESTAMP_HEADER: RequestHeader("When Slack signed it; good for five minutes.", _TEXT),
        slack.SIGNATURE_HEADER: RequestHeader(
            "`v0=` and the HMAC-SHA256 of `v0:<timestamp>:<raw body>` in hex, with the app's signing secret.",
            _TEXT,
        ),
        "Connection": RequestHeader("`Upgrade`.", _TEXT),
        "Upgrade": RequestHeader("`websocket`.", _TEXT),
        "Sec-WebSocket-Version": RequestHeader(f"`{WEBSOCKET_VERSION}`.", _TEXT),
        "Sec-WebSocket-Key": RequestHeader("16 bytes in base64.", _TEXT, (InputError,)),
    }
)

ANSWER_HEADERS: Mapping[str, tuple[str, Mapping[str, Any]]] = MappingProxyType(
    {
        REQUEST_ID_HEADER: ("The request's name in logs.", {"type": "string", "minLength": 1}),
        "X-Content-Type-Options": ("Keeps browsers from guessing.", {"const": "nosniff"}),
        "Cache-Control": (
            "`no-store`, but for event streams.",
            {"enum": ["no-store", "no-cache, no-transform"]},
        ),
        "Location": ("Where the task is looked up.", {"type": "string", "format": "uri-reference"}),
        "Retry-After": ("Seconds after which to ask again.", {"type": "integer", "minimum": 0}),
        "ETag": ("Names this state, for `If-None-Match`.", _TEXT),
        "Link": ('Where the next page is: `rel="next"`.', _TEXT),
        TRACEPARENT_HEADER: ("As it was sent.", _TEXT),
        LIMIT_HEADER: ("Requests that the token may send now; of a token that is limited.", _TEXT),
        POLICY_HEADER: ("Requests that it may send in so many seconds.", _TEXT),
        REPLAYED_HEADER: ("The task was made by an earlier request with the same key.", {"const": "true"}),
        APPLIED_HEADER: ("The wish that was granted.", _TEXT),
        "Content-Disposition": ("The archive's name.", _TEXT),
        "WWW-Authenticate": ("`Bearer`.", {"const": "Bearer"}),
        "Vary": ("`Origin`.", {"const": "Origin"}),
        "Allow": ("The methods that there are.", _TEXT),
        EPOCH_HEADER: ("Names the log.", _UUID),
        STREAM_ID_HEADER: ("Names this stream.", _UUID),
        "Connection": ("`Upgrade`.", _TEXT),
        "Upgrade": ("`websocket`.", {"const": "websocket"}),
        "Sec-WebSocket-Accept": ("Answers the key.", _TEXT),
        "Sec-WebSocket-Version": (f"`{WEBSOCKET_VERSION}`.", {"const": WEBSOCKET_VERSION}),
        "X-Accel-Buffering": ("Keeps proxies from holding events back.", {"const": "no"}),
    }
)

_OF_ANY_ANSWER = {
    REQUEST_ID_HEADER: True,
    TRACEPARENT_HEADER: False,
    LIMIT_HEADER: False,
    POLICY_HEADER: False,
    "X-Content-Type-Options": True,
    "Cache-Control": True,
}
_REQUIRED = "Required"


def references_to(names: Mapping[str, bool], *, is_handshake: bool = False) -> dict[str, Any]:
    """Refer to the headers of an answer, those of any answer included.

    Args:
        names: whether the answer always has the header.
        is_handshake: whether the answer opens a WebSocket, and is none like any other.
    """
    of_any = {REQUEST_ID_HEADER: True, TRACEPARENT_HEADER: False} if is_handshake else _OF_ANY_ANSWER
    return {
        name: {"$ref": f"{COMPONENTS}/headers/{name}{_REQUIRED if always else ''}"}
        for name, always in (of_any | dict(names)).items()
    }


def header_components() -> dict[str, Any]:
    """Every header that answers may carry, for answers that always have it and for others."""
    return {
        f"{name}{_REQUIRED if always else ''}": {"description": text, "required": always, "schema": schema}
        for name, (text, schema) in ANSWER_HEADERS.items()
        for always in (True, False)
    }
