"""Gunicorn's gevent worker, with what a service on the open network needs on top."""

from typing import TYPE_CHECKING, Any

import gevent
from gunicorn.http import errors as http  # type: ignore[import-untyped]  # ships no types
from gunicorn.workers.base_async import AsyncWorker  # type: ignore[import-untyped]  # ships no types
from gunicorn.workers.ggevent import GeventWorker  # type: ignore[import-untyped]  # ships no types
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from core.logs import get_logger
from web.app import RELAY
from web.door import choose_request_id, choose_traceparent, with_house_headers
from web.problems import INTERNAL, Problem, transport_problem
from web.target import parse_target

if TYPE_CHECKING:
    from flask import Flask
    from greenlet import greenlet

IO_TIMEOUT_S = 60.0  # without a byte of progress, in either direction
DRAIN_TIMEOUT_S = 5.0
MAX_DRAIN_BYTES = 16 * 1024 * 1024  # some over the body limit: the sender should get to read its 413

_log = get_logger(__name__)


class WebWorker(GeventWorker):  # type: ignore[misc]  # untyped base
    """Ends streams and idle connections when it stops, bounds every wait, refuses in JSON."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._idle: set[greenlet] = set()

    def handle(self, listener: Any, client: Any, addr: Any) -> None:
        """Serve one connection; a peer that stalls is dropped."""
        client.settimeout(IO_TIMEOUT_S)
        current = gevent.getcurrent()
        self._idle.add(current)
        try:
            AsyncWorker.handle(self, listener, client, addr)
        finally:
            self._idle.discard(current)

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:  # noqa: PLR0917 - gunicorn's shape
        """Serve one request and leave the connection at the start of the next, or close it."""
        current = gevent.getcurrent()
        self._idle.discard(current)
        super().handle_request(listener_name, req, sock, addr)
        if not self.alive or not gevent.with_timeout(DRAIN_TIMEOUT_S, _drain, req.body, timeout_value=False):
            raise StopIteration
        self._idle.add(current)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop on SIGTERM: requests are finished, streams and idle connections are ended."""
        super().handle_exit(sig, frame)
        gevent.spawn(self._end_waiting)

    def handle_error(self, req: Any, client: Any, _addr: Any, exc: BaseException) -> None:
        """Answer what never reached the application. The log gets the kind of error, not what was sent."""
        if isinstance(exc, gevent.GreenletExit):
            return
        problem = transport_problem(exc)
        if problem is INTERNAL:
            _log.error("connection_failed", exc_info=exc)
        else:
            _log.info("request_refused", code=problem.code, reason=type(exc).__name__)
        try:
            client.sendall(render_refusal(problem, req))
        except OSError:
            _log.debug("refusal_not_sent")

    def _end_waiting(self) -> None:
        gevent.killall(list(self._idle), block=False)
        app: Flask = self.wsgi
        app.extensions[RELAY].end_all()


def _drain(body: Any) -> bool:
    drained = 0
    try:
        while drained <= MAX_DRAIN_BYTES:
            chunk = body.read(64 * 1024)
            if not chunk:
                return True
            drained += len(chunk)
    except (http.ParseException, OSError):
        return False  # where the next request would start is unknown
    return False


def render_refusal(problem: Problem, req: Any) -> bytes:
    """Write a problem byte for byte, as the last answer on its connection.

    Args:
        req: gunicorn's request; None when its head could not be read.
    """
    sent: dict[str, str] = dict(req.headers) if req is not None else {}
    response = problem.respond(
        parse_accept_header(sent.get("ACCEPT"), MIMEAccept),
        instance=parse_target(req.uri).path if req is not None else "",
    )
    response.headers["Connection"] = "close"
    headers = with_house_headers(
        response.headers,
        choose_request_id(sent.get("X-REQUEST-ID", "")),
        choose_traceparent(sent.get("TRACEPARENT", "")),
    )
    lines = [f"HTTP/1.1 {response.status}", *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1") + response.get_data()
