"""The outermost layer: every request passes it before anything else looks at it."""

import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

import structlog
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from core.errors import InputError
from core.ids import new_uuid
from core.logs import get_logger
from core.trace import is_traceparent, trace_id_of
from web.admission import ADMISSION
from web.auth import Guard
from web.principal import PRINCIPAL
from web.problems import problem_of
from web.target import Target, read_target

REQUEST_ID = "memlane.request_id"
TRACEPARENT = "memlane.traceparent"
TARGET = "memlane.target"

REQUEST_ID_HEADER: Final = "X-Request-ID"
TRACEPARENT_HEADER: Final = "traceparent"

_VALID_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_log = get_logger(__name__)


class Door:
    """Names the request, keeps its path undecoded, lets the guard decide, sets headers on every answer."""

    def __init__(self, app: WSGIApplication, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Serve one request (PEP 3333)."""
        request_id = choose_request_id(environ.get("HTTP_X_REQUEST_ID", ""))
        traceparent = choose_traceparent(environ.get("HTTP_TRACEPARENT", ""))
        target = read_target(environ)
        environ[REQUEST_ID], environ[TRACEPARENT], environ[TARGET] = request_id, traceparent, target
        # routes match the path as sent, so an encoded slash can be part of a workspace's name
        environ["PATH_INFO"], environ["SCRIPT_NAME"] = target.path, ""
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request_id, trace_id=trace_id_of(traceparent))
        return self._admit(environ, _finishing(start_response, request_id, traceparent), target)

    def _admit(
        self, environ: WSGIEnvironment, start_response: StartResponse, target: Target
    ) -> Iterable[bytes]:
        try:
            principal = self._guard.check(environ, target)
        except InputError as refusal:
            _log.info("request_refused", code=refusal.code)
            accept = parse_accept_header(environ.get("HTTP_ACCEPT"), MIMEAccept)
            response = problem_of(refusal).respond(accept, instance=target.path)
            return response(environ, start_response)
        if principal is not None:
            environ[PRINCIPAL] = principal
            authorization = environ.get("HTTP_AUTHORIZATION", "")
            environ[ADMISSION] = partial(self._guard.still_admits, authorization, principal)
        return self._app(environ, start_response)


def choose_request_id(given: str) -> str:
    """The id by which a request is known: the caller's own if it is fit to be logged, else a fresh one."""
    return given if _VALID_REQUEST_ID.fullmatch(given) else new_uuid()


def choose_traceparent(given: str) -> str | None:
    """The trace context that the caller sent; one that is none is ignored (W3C Trace Context, 3.2)."""
    return given if is_traceparent(given) else None


def with_house_headers(
    headers: Iterable[tuple[str, str]], request_id: str, traceparent: str | None
) -> list[tuple[str, str]]:
    """Add to an answer's headers what every answer has, and the trace context if there is one."""
    own = list(headers)
    extra = [(REQUEST_ID_HEADER, request_id), ("X-Content-Type-Options", "nosniff")]
    if traceparent is not None:
        extra.append((TRACEPARENT_HEADER, traceparent))
    if not any(name.lower() == "cache-control" for name, _ in own):
        extra.append(("Cache-Control", "no-store"))
    return own + extra


def _finishing(start_response: StartResponse, request_id: str, traceparent: str | None) -> StartResponse:
    def start(
        status: str, headers: list[tuple[str, str]], exc_info: Any = None, /
    ) -> Callable[[bytes], object]:
        return start_response(status, with_house_headers(headers, request_id, traceparent), exc_info)

    return start
