"""What the service's HTTP answers mean: a model, or one of our errors."""

from collections.abc import Mapping
from typing import Any, TypeVar

import httpx2
from pydantic import ValidationError

from memlane.errors import (
    Conflict,
    Forbidden,
    MemlaneApiError,
    NotFound,
    QueueFull,
    RateLimited,
    TryLater,
    Unauthorized,
    Unavailable,
    Unreachable,
)
from memlane.models import Answer, Event

_BY_STATUS: Mapping[int, type[MemlaneApiError]] = {
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    429: TryLater,
}
_BY_CODE: Mapping[str, type[MemlaneApiError]] = {
    "remember_queue_full": QueueFull,
    "rate_limit_exceeded": RateLimited,
}
_OF_PROXIES = frozenset({429, 500, 502, 503, 504})
_NOTHING_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)

_A = TypeVar("_A", bound=Answer)


def parsed(kind: type[_A], answer: httpx2.Response) -> _A:
    """Read an answer.

    Raises:
        MemlaneApiError: some other server gave it.
    """
    try:
        return kind.model_validate_json(answer.content)
    except ValidationError:
        raise MemlaneApiError(_not_memlane(answer), status=answer.status_code) from None


def event_of(text: str, stream: httpx2.Response) -> Event:
    """Read an event of a stream.

    Raises:
        MemlaneApiError: some other server sent it.
    """
    try:
        return Event.model_validate_json(text)
    except ValidationError:
        raise MemlaneApiError(_not_memlane(stream), status=stream.status_code) from None


def check_event_stream(answer: httpx2.Response) -> None:
    """Refuse an answer that is no event stream.

    Raises:
        MemlaneApiError: some other server gave it.
    """
    if not answer.headers.get("Content-Type", "").startswith("text/event-stream"):
        raise MemlaneApiError(_not_memlane(answer), status=answer.status_code)


def refusal(answer: httpx2.Response) -> MemlaneApiError:
    """The error that an answer tells of; it has been read."""
    status, fields = answer.status_code, _error_fields(answer)
    code = str(fields.get("code") or "api_error")
    kind = _BY_CODE.get(code) or _BY_STATUS.get(status, Unavailable if status >= 500 else MemlaneApiError)
    message = str(fields.get("error") or _bare_message(answer))
    return kind(message, status=status, code=code, retry_after_s=_retry_after_s(answer))


def unreachable(url: str, error: httpx2.TransportError) -> Unreachable:
    """The error of a request that got no answer.

    Args:
        url: where the service was looked for.
    """
    if isinstance(error, _NOTHING_SENT):
        message = f"no memlane answers at {url}; start one with `memlane up` (`./dev up` in a checkout)"
        return Unreachable(message, maybe_arrived=False)
    what = (
        f"memlane at {url} gave no answer in time"
        if isinstance(error, httpx2.TimeoutException)
        else f"the connection to memlane at {url} was lost"
    )
    return Unreachable(f"{what}; what was asked may have been accepted all the same", maybe_arrived=True)


def _bare_message(answer: httpx2.Response) -> str:
    # a proxy speaks for a service that is away; anything else that does not speak our way is not ours
    is_proxys = answer.status_code in _OF_PROXIES
    return f"HTTP {answer.status_code}" if is_proxys else _not_memlane(answer)


def _not_memlane(answer: httpx2.Response) -> str:
    origin = str(answer.request.url.copy_with(raw_path=b"/")).rstrip("/")
    return f"what answers at {origin} is not a memlane service (HTTP {answer.status_code})"


def _error_fields(answer: httpx2.Response) -> Mapping[str, Any]:
    try:
        fields = answer.json()
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _retry_after_s(answer: httpx2.Response) -> float | None:
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else None
