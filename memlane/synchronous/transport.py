# Made from memlane/asynchronous/transport.py by ./dev fmt; change that.
"""The way to a service: one request with its tries, one stream, every failure as one of our errors."""

import time
from collections.abc import Generator

import httpx2

from memlane.addresses import is_loopback, service_url
from memlane.answers import check_event_stream, event_of, refusal, unreachable
from memlane.errors import MemlaneApiError, Unreachable
from memlane.models import Event
from memlane.patience import Limits, Patience
from memlane.position import EPOCH, Position
from memlane.request import Request, Upload

_CLIENT_ID = "X-Qwen-Client-Id"


class Transport:
    """Sends requests to one service.

    Attributes:
        client_id: whom the requests are from; None leaves it open.
    """

    def __init__(
        self, base_url: str, token: str | None, *, limit_s: float, limits: Limits, client_id: str | None
    ) -> None:
        """Connect to nothing yet.

        Args:
            limit_s: longest wait for one answer, seconds.
            limits: of all tries of one request.

        Raises:
            ConfigError: the URL is none.
        """
        url = service_url(base_url)
        self.client_id = client_id
        self._limit_s = limit_s
        self._limits = limits
        is_local = is_loopback(url.host)
        self._http = httpx2.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=limit_s,
            trust_env=not is_local,
            # reading all certificates takes a while; without proxy and redirects nothing here shows one
            verify=not is_local or url.scheme == "https",
        )

    @property
    def base_url(self) -> str:
        """Where the service is looked for."""
        return str(self._http.base_url).rstrip("/")

    def send(self, request: Request) -> httpx2.Response:
        """Send a request and return its successful answer; what may pass is tried again within the limits.

        Raises:
            MemlaneApiError: the service refused.
            Unreachable: no answer; it says whether the request may have arrived.
        """
        patience = Patience(self._limits, is_repeatable=request.is_repeatable)
        while True:
            try:
                return self.send_once(request)
            except (MemlaneApiError, Unreachable) as failure:
                pause_s = patience.pause_s(failure)
                if pause_s is None:
                    raise
            time.sleep(pause_s)

    def send_once(self, request: Request) -> httpx2.Response:
        """Send a request one time.

        Raises:
            MemlaneApiError, Unreachable: as for ``send``.
        """
        body = request.body
        try:
            answer = self._http.request(
                request.method,
                request.path,
                content=body.content if isinstance(body, Upload) else None,
                json=None if isinstance(body, Upload) else body,
                headers=request.headers() | self._identity(),
                timeout=httpx2.Timeout(self._limit_s, read=self._limit_s + request.hold_s),
            )
        except httpx2.TransportError as error:
            raise unreachable(self.base_url, error) from error
        if not answer.is_success:
            raise refusal(answer)
        return answer

    def follow(self, path: str, position: Position, *, silence_s: float) -> Generator[Event]:
        """Read events from ``position``, which moves along, until the stream ends.

        Args:
            silence_s: a stream that says nothing for so long counts as lost, seconds.

        Raises:
            MemlaneApiError: the service refused.
            Unreachable: no connection, or it was lost.
        """
        timeout = httpx2.Timeout(self._limit_s, read=silence_s)
        headers = position.headers() | self._identity()
        try:
            with self._http.sse(path, headers=headers, timeout=timeout) as source:
                _check_stream(source.response)
                position.begin(source.response.headers.get(EPOCH))
                for frame in source:
                    if frame.data:
                        event = event_of(frame.data, source.response)
                        position.advance(event)
                        yield event
        except httpx2.TransportError as error:
            raise unreachable(self.base_url, error) from error

    def close(self) -> None:
        """Close the connections; repeating it does nothing."""
        self._http.close()

    def _identity(self) -> dict[str, str]:
        return {} if self.client_id is None else {_CLIENT_ID: self.client_id}


def _check_stream(answer: httpx2.Response) -> None:
    if not answer.is_success:
        answer.read()
        raise refusal(answer)
    check_event_stream(answer)
