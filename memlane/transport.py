"""HTTP as the SDK needs it: one request, one stream, every failure as one of our errors."""

import ipaddress
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx2
from pydantic import ValidationError

from core.errors import ConfigError
from memlane.errors import MemlaneApiError, NotFound, QueueFull, Unauthorized, Unavailable, Unreachable
from memlane.models import Answer

_EPOCH = "X-Qwen-Event-Epoch"

_A = TypeVar("_A", bound=Answer)


@dataclass(slots=True)
class Position:
    """How far a reader of events has come.

    Attributes:
        last_id: id of the last event read; None before the first.
        epoch: the log that ``last_id`` belongs to, as the service named it.
        connected: whether the service has answered at least once.
    """

    last_id: int | None = None
    epoch: str | None = None
    connected: bool = False

    def headers(self) -> dict[str, str]:
        """What to send to go on from here."""
        known = {"Last-Event-ID": self.last_id, _EPOCH: self.epoch if self.last_id is not None else None}
        return {name: str(value) for name, value in known.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Upload:
    """A body that is no JSON."""

    content: bytes
    content_type: str


def open_http(base_url: str, token: str | None, *, limit_s: float) -> httpx2.Client:
    """Make an HTTP client for one service; proxies of the environment are not used on loopback.

    Raises:
        ConfigError: the URL is none.
    """
    try:
        url = httpx2.URL(base_url)
    except httpx2.InvalidURL:
        raise ConfigError(f"{base_url!r} is not a URL") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigError(f"{base_url!r} is not an http:// or https:// URL")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx2.Client(base_url=url, headers=headers, timeout=limit_s, trust_env=not _is_loopback(url.host))


def send(
    http: httpx2.Client, method: str, path: str, *, body: Mapping[str, Any] | Upload | None = None
) -> httpx2.Response:
    """Send a request and return its successful answer.

    Raises:
        MemlaneApiError: the service refused.
        Unreachable: no answer; the request may have arrived.
    """
    try:
        if isinstance(body, Upload):
            headers = {"Content-Type": body.content_type}
            answer = http.request(method, path, content=body.content, headers=headers)
        else:
            answer = http.request(method, path, json=body)
    except httpx2.TransportError as error:
        raise _unreachable(http, error) from error
    if not answer.is_success:
        raise _refusal(answer)
    return answer


def follow(http: httpx2.Client, path: str, position: Position, *, silence_s: float) -> Iterator[str]:
    """Read the data of server-sent events from ``position``, which moves along, until the stream ends.

    Args:
        silence_s: a stream that says nothing for so long counts as lost, seconds.

    Raises:
        MemlaneApiError: the service refused.
        Unreachable: no connection, or it was lost.
    """
    timeout = httpx2.Timeout(http.timeout.connect, read=silence_s)
    try:
        with http.sse(path, headers=position.headers(), timeout=timeout) as source:
            _check_stream(source.response)
            position.connected = True
            position.epoch = source.response.headers.get(_EPOCH)
            for event in source:
                if event.id.isdecimal():
                    position.last_id = int(event.id)
                if event.data:
                    yield event.data
    except httpx2.TransportError as error:
        raise _unreachable(http, error) from error


def _check_stream(answer: httpx2.Response) -> None:
    if not answer.is_success:
        answer.read()
        raise _refusal(answer)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unreachable(http: httpx2.Client, error: httpx2.TransportError) -> Unreachable:
    url = str(http.base_url).rstrip("/")
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return Unreachable(
            f"no memlane answers at {url}; start one with `memlane up` (`./dev up` in a checkout)"
        )
    maybe = "; what was asked may have been accepted all the same"
    if isinstance(error, httpx2.TimeoutException):
        return Unreachable(f"memlane at {url} gave no answer in time{maybe}")
    return Unreachable(f"the connection to memlane at {url} was lost{maybe}")


def parsed(kind: type[_A], answer: httpx2.Response) -> _A:
    """Read an answer.

    Raises:
        MemlaneApiError: some other server gave it.
    """
    try:
        return kind.model_validate_json(answer.content)
    except ValidationError:
        raise MemlaneApiError(_not_memlane(answer), status=answer.status_code) from None


def _not_memlane(answer: httpx2.Response) -> str:
    origin = str(answer.request.url.copy_with(raw_path=b"/")).rstrip("/")
    return f"what answers at {origin} is not a memlane service (HTTP {answer.status_code})"


def _refusal(answer: httpx2.Response) -> MemlaneApiError:
    status = answer.status_code
    fields = _error_fields(answer)
    message, code = str(fields.get("error") or _bare_message(answer)), str(fields.get("code") or "api_error")
    if status == 429:
        return QueueFull(message, status=status, code=code, retry_after_s=_retry_after_s(answer))
    kinds = {401: Unauthorized, 404: NotFound}
    kind = kinds.get(status, Unavailable if status >= 500 else MemlaneApiError)
    return kind(message, status=status, code=code)


def _bare_message(answer: httpx2.Response) -> str:
    # a proxy speaks for a service that is away; anything else that does not speak our way is not ours
    is_proxys = answer.status_code in (429, 500, 502, 503, 504)
    return f"HTTP {answer.status_code}" if is_proxys else _not_memlane(answer)


def _error_fields(answer: httpx2.Response) -> Mapping[str, Any]:
    try:
        fields = answer.json()
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _retry_after_s(answer: httpx2.Response) -> float:
    text = answer.headers.get("Retry-After", "")
    return float(text) if text.isdecimal() else 1.0
