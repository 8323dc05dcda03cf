"""Errors as HTTP answers: one table, one shape."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from operator import attrgetter
from typing import Any

from flask import request
from gunicorn.http import errors as http  # type: ignore[import-untyped]  # ships no types
from werkzeug.datastructures import Headers, MIMEAccept
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from core.errors import DependencyError, InputError, MemlaneError, StateError
from core.text import well_formed
from events.errors import (
    ChannelBacklogFull,
    InvalidClientId,
    SessionNotFound,
    StorageFull,
    StorageUnavailable,
    SubscriberLimitExceeded,
)
from jobs.errors import (
    IdempotencyConflict,
    IdempotencyMismatch,
    InputGone,
    MemoryUnavailable,
    NoPreview,
    Overloaded,
    QueueFull,
    RateLimitExceeded,
    TaskFinished,
    TaskNotFinished,
)
from memory.errors import (
    ArchiveInvalid,
    ArchiveTooLarge,
    CommitConflict,
    PreviewStale,
    RevisionNotFound,
    RevisionPruned,
    RevisionUndone,
)
from web import errors
from web.answers.problems import ProblemDetails, ShownProblem
from web.handshake import WEBSOCKET_VERSION
from web.negotiation import JSON_MEDIA, PROBLEM_MEDIA, prefers_problem

JSON_TYPE = f"{JSON_MEDIA}; charset=utf-8"
Facts = Mapping[str, Any]
Told = Mapping[str, Callable[[Any], Any]]  # by name: how it is taken from the error; None is left out


@dataclass(frozen=True, slots=True)
class Rule:
    """How one kind of error is answered.

    Attributes:
        message: fixed public text; None when the error's own text is the public one.
        headers: what the answer says in them.
        facts: fields of ``ShownProblem`` that the answer has beyond code and message.
    """

    status: HTTPStatus
    message: str | None = None
    headers: Told = field(default_factory=dict)
    facts: Told = field(default_factory=dict)


def _retry(seconds: int) -> Told:
    return {"Retry-After": lambda _error: seconds}


_RETRY_AS_TOLD: Told = {"Retry-After": attrgetter("retry_after_s")}
_WEBSOCKET: Told = {
    "Connection": lambda _error: "Upgrade",
    "Upgrade": lambda _error: "websocket",
    "Sec-WebSocket-Version": lambda _error: WEBSOCKET_VERSION,
}
_CHANGED_DOCUMENTS: Told = {"documents": lambda error: list(error.paths)}

# Found by the nearest class; a leaf that is not named here is answered as its base, without its own text
# unless it is the caller's fault.
RULES: Mapping[type[BaseException], Rule] = {
    InputError: Rule(HTTPStatus.BAD_REQUEST),
    InvalidClientId: Rule(
        HTTPStatus.BAD_REQUEST,
        facts={"sessionId": attrgetter("session_id"), "clientId": attrgetter("client_id")},
    ),
    SessionNotFound: Rule(HTTPStatus.NOT_FOUND, facts={"sessionId": attrgetter("session_id")}),
    errors.WorkspaceMismatch: Rule(
        HTTPStatus.BAD_REQUEST,
        facts={
            "workspaceCount": attrgetter("workspace_count"),
            "boundWorkspace": attrgetter("bound"),
            "requestedWorkspace": attrgetter("requested"),
        },
    ),
    errors.Unauthorized: Rule(HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": lambda _error: "Bearer"}),
    errors.HostRefused: Rule(HTTPStatus.FORBIDDEN),
    errors.OriginRefused: Rule(HTTPStatus.FORBIDDEN, headers={"Vary": lambda _error: "Origin"}),
    errors.Forbidden: Rule(HTTPStatus.FORBIDDEN),
    errors.TaskNotFound: Rule(HTTPStatus.NOT_FOUND),
    errors.DocumentNotFound: Rule(HTTPStatus.NOT_FOUND),
    RevisionNotFound: Rule(HTTPStatus.NOT_FOUND, "There is no such revision of this memory"),
    errors.NotUnderReview: Rule(HTTPStatus.CONFLICT),
    CommitConflict: Rule(
        HTTPStatus.CONFLICT,
        "Documents have changed in a way that does not fit the request",
        facts=_CHANGED_DOCUMENTS,
    ),
    PreviewStale: Rule(
        HTTPStatus.CONFLICT,
        "Memory has changed since the preview was made, or the preview is gone",
        facts=_CHANGED_DOCUMENTS,
    ),
    RevisionUndone: Rule(HTTPStatus.CONFLICT, "The revision is taken back already"),
    RevisionPruned: Rule(HTTPStatus.GONE, "The texts of this revision are not kept any more"),
    ArchiveInvalid: Rule(
        HTTPStatus.BAD_REQUEST, facts={"member": attrgetter("member"), "reason": attrgetter("reason")}
    ),
    ArchiveTooLarge: Rule(HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    errors.BodyTimeout: Rule(HTTPStatus.REQUEST_TIMEOUT),
    errors.PayloadTooLarge: Rule(HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    errors.UpgradeRequired: Rule(HTTPStatus.UPGRADE_REQUIRED, headers=_WEBSOCKET),
    errors.NotAcceptable: Rule(HTTPStatus.NOT_ACCEPTABLE),
    errors.PreconditionFailed: Rule(HTTPStatus.PRECONDITION_FAILED),
    errors.UnsupportedMediaType: Rule(HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
    StateError: Rule(HTTPStatus.CONFLICT, "The request can't be served in the present state"),
    MemoryUnavailable: Rule(HTTPStatus.CONFLICT),
    RateLimitExceeded: Rule(HTTPStatus.TOO_MANY_REQUESTS, headers=_RETRY_AS_TOLD),
    IdempotencyConflict: Rule(HTTPStatus.CONFLICT),
    TaskFinished: Rule(HTTPStatus.CONFLICT),
    TaskNotFinished: Rule(HTTPStatus.CONFLICT),
    InputGone: Rule(HTTPStatus.CONFLICT),
    NoPreview: Rule(HTTPStatus.CONFLICT),
    IdempotencyMismatch: Rule(HTTPStatus.UNPROCESSABLE_ENTITY),
    QueueFull: Rule(HTTPStatus.TOO_MANY_REQUESTS, headers=_RETRY_AS_TOLD),
    SubscriberLimitExceeded: Rule(
        HTTPStatus.TOO_MANY_REQUESTS, headers=_retry(5), facts={"limit": attrgetter("limit")}
    ),
    Overloaded: Rule(HTTPStatus.SERVICE_UNAVAILABLE, headers=_RETRY_AS_TOLD),
    DependencyError: Rule(
        HTTPStatus.SERVICE_UNAVAILABLE, "A part of the service does not answer", headers=_retry(1)
    ),
    StorageUnavailable: Rule(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Storage does not answer; the request may or may not have been accepted",
        headers=_retry(1),
    ),
    ChannelBacklogFull: Rule(
        HTTPStatus.SERVICE_UNAVAILABLE, "Too many messages of this channel wait already", headers=_retry(30)
    ),
    StorageFull: Rule(
        HTTPStatus.SERVICE_UNAVAILABLE, "Storage is full; nothing was accepted", headers=_retry(30)
    ),
    errors.NotReady: Rule(HTTPStatus.SERVICE_UNAVAILABLE, headers=_retry(1)),
    MemlaneError: Rule(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal server error"),
}

# what the framework itself refuses
FRAMEWORK_CODES: Mapping[int, str] = {404: "not_found", 405: "method_not_allowed"}

# what the server refuses while it reads HTTP; anything else it can't read is malformed
TRANSPORT: Mapping[type[Exception], tuple[HTTPStatus, str, str]] = {
    http.LimitRequestLine: (HTTPStatus.REQUEST_URI_TOO_LONG, "uri_too_long", "Request target too long"),
    http.LimitRequestHeaders: (
        HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
        "headers_too_large",
        "Request headers too large",
    ),
    http.ExpectationFailed: (HTTPStatus.EXPECTATION_FAILED, "expectation_failed", "Unknown expectation"),
    http.UnsupportedTransferCoding: (
        HTTPStatus.NOT_IMPLEMENTED,
        "unsupported_transfer_coding",
        "Unknown transfer coding",
    ),
}
_MALFORMED = (HTTPStatus.BAD_REQUEST, InputError.code, "Malformed HTTP request")


@dataclass(frozen=True, slots=True)
class Problem:
    """An error, ready to be written."""

    status: int
    code: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)

    def respond(self, accept: MIMEAccept, *, instance: str) -> Response:
        """Write it as the contract's JSON, or as RFC 9457 when ``accept`` asks for that.

        Args:
            instance: path of the request, for the RFC's member of that name.
        """
        body = ShownProblem(error=self.message, code=self.code, **self.facts)
        if not prefers_problem(accept):
            return json_response(body.to_wire(), status=self.status, headers=self.headers)
        details = ProblemDetails(
            **body.model_dump(),
            title=HTTPStatus(self.status).phrase,
            status=self.status,
            detail=self.message,
            instance=instance,
        )
        return json_response(
            details.to_wire(), status=self.status, headers=self.headers, content_type=PROBLEM_MEDIA
        )


def problem_of(error: MemlaneError) -> Problem:
    """Translate one of our errors; nothing but its public text and facts gets out."""
    rule = rule_of(type(error))
    return Problem(
        int(rule.status),
        error.code,
        rule.message if rule.message is not None else str(error),
        headers={name: str(told) for name, told in _told(rule.headers, error)},
        facts=dict(_told(rule.facts, error)),
    )


def rule_of(kind: type[MemlaneError]) -> Rule:
    """How errors of a kind are answered."""
    return next(RULES[base] for base in kind.__mro__ if base in RULES)


def _told(wanted: Told, error: MemlaneError) -> Iterator[tuple[str, Any]]:
    for name, take in wanted.items():
        told = take(error)
        if told is not None:
            yield name, told


INTERNAL = problem_of(MemlaneError())  # whatever went wrong that is nobody's else


def framework_problem(error: HTTPException) -> Problem:
    """Translate what Flask or Werkzeug refused, its ``Allow`` included."""
    status = error.code or 500
    kept = {name: value for name, value in error.get_headers() if name != "Content-Type"}
    code = FRAMEWORK_CODES.get(status, InputError.code if status < 500 else MemlaneError.code)
    return Problem(status, code, HTTPStatus(status).phrase, headers=kept)


def transport_problem(error: BaseException) -> Problem:
    """Translate what went wrong below the application, while a request was read or answered."""
    if not isinstance(error, http.ParseException):
        return INTERNAL
    status, code, message = TRANSPORT.get(type(error), _MALFORMED)
    return Problem(int(status), code, message)


def json_response(
    body: Mapping[str, Any],
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    content_type: str = JSON_TYPE,
) -> Response:
    """Write a JSON answer; what is no UTF-8, such as a file's name, is shown with U+FFFD."""
    text = well_formed(json.dumps(body, ensure_ascii=False, separators=(",", ":")))
    return Response(text, status=status, headers=Headers(headers or {}), content_type=content_type)


def revalidated(body: Mapping[str, Any], *, headers: Mapping[str, str] | None = None) -> Response:
    """Answer the current request with JSON, or with 304 if the caller has it already.

    Raises:
        PreconditionFailed: the caller wants another state (``If-Match``).
    """
    response = json_response(body, headers=headers)
    response.add_etag(weak=True)
    response.make_conditional(request.environ)
    if response.status_code == HTTPStatus.PRECONDITION_FAILED:
        raise errors.PreconditionFailed
    return response
