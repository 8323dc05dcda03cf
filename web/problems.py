"""Errors as HTTP answers: one table, one shape."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from flask import request
from gunicorn.http import errors as http  # type: ignore[import-untyped]  # ships no types
from werkzeug.datastructures import Headers, MIMEAccept
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Response

from core.errors import DependencyError, InputError, MemlaneError, StateError
from core.text import well_formed
from events.errors import (
    InvalidClientId,
    SessionNotFound,
    StorageFull,
    StorageUnavailable,
    SubscriberLimitExceeded,
)
from jobs.errors import (
    ComeBackLater,
    IdempotencyConflict,
    IdempotencyMismatch,
    MemoryUnavailable,
    NoPreview,
    Overloaded,
    QueueFull,
    RateLimitExceeded,
    TaskFinished,
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

JSON_TYPE = "application/json; charset=utf-8"
PROBLEM_TYPE = "application/problem+json"

Facts = Mapping[str, Any]


def _none(_error: Any) -> Facts:
    return {}


@dataclass(frozen=True, slots=True)
class Rule:
    """How one kind of error is answered.

    Attributes:
        message: fixed public text; None when the error's own text is the public one.
        headers, facts: what the answer says beyond code and message, from the error's fields.
    """

    status: HTTPStatus
    message: str | None = None
    headers: Callable[[Any], Mapping[str, str]] = _none
    facts: Callable[[Any], Facts] = _none


def _retry(seconds: int) -> Callable[[Any], Mapping[str, str]]:
    return lambda _error: {"Retry-After": str(seconds)}


def _retry_as_told(error: ComeBackLater) -> Mapping[str, str]:
    return {"Retry-After": str(error.retry_after_s)}


def _client_facts(error: InvalidClientId) -> Facts:
    session = {} if error.session_id is None else {"sessionId": error.session_id}
    return session if error.client_id is None else session | {"clientId": error.client_id}


def _workspace_facts(error: errors.WorkspaceMismatch) -> Facts:
    return {} if error.workspace_count is None else {"workspaceCount": error.workspace_count}


def _archive_facts(error: ArchiveInvalid) -> Facts:
    return {"reason": error.reason} | ({} if error.member is None else {"member": error.member})


# Found by the nearest class; a leaf that is not named here is answered as its base, without its own text
# unless it is the caller's fault.
RULES: Mapping[type[BaseException], Rule] = {
    InputError: Rule(HTTPStatus.BAD_REQUEST),
    InvalidClientId: Rule(HTTPStatus.BAD_REQUEST, facts=_client_facts),
    SessionNotFound: Rule(HTTPStatus.NOT_FOUND, facts=lambda error: {"sessionId": error.session_id}),
    errors.WorkspaceMismatch: Rule(HTTPStatus.BAD_REQUEST, facts=_workspace_facts),
    errors.Unauthorized: Rule(HTTPStatus.UNAUTHORIZED, headers=lambda _error: {"WWW-Authenticate": "Bearer"}),
    errors.HostRefused: Rule(HTTPStatus.FORBIDDEN),
    errors.OriginRefused: Rule(HTTPStatus.FORBIDDEN, headers=lambda _error: {"Vary": "Origin"}),
    errors.Forbidden: Rule(HTTPStatus.FORBIDDEN),
    errors.TaskNotFound: Rule(HTTPStatus.NOT_FOUND),
    errors.DocumentNotFound: Rule(HTTPStatus.NOT_FOUND),
    RevisionNotFound: Rule(HTTPStatus.NOT_FOUND, "There is no such revision of this memory"),
    errors.NotUnderReview: Rule(HTTPStatus.CONFLICT),
    CommitConflict: Rule(
        HTTPStatus.CONFLICT,
        "Documents have changed in a way that does not fit the request",
        facts=lambda error: {"documents": list(error.paths)},
    ),
    PreviewStale: Rule(
        HTTPStatus.CONFLICT,
        "Memory has changed since the preview was made, or the preview is gone",
        facts=lambda error: {"documents": list(error.paths)},
    ),
    RevisionUndone: Rule(HTTPStatus.CONFLICT, "The revision is taken back already"),
    RevisionPruned: Rule(HTTPStatus.GONE, "The texts of this revision are not kept any more"),
    ArchiveInvalid: Rule(HTTPStatus.BAD_REQUEST, facts=_archive_facts),
    ArchiveTooLarge: Rule(HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    errors.BodyTimeout: Rule(HTTPStatus.REQUEST_TIMEOUT),
    errors.PayloadTooLarge: Rule(HTTPStatus.REQUEST_ENTITY_TOO_LARGE),
    errors.UnsupportedMediaType: Rule(HTTPStatus.UNSUPPORTED_MEDIA_TYPE),
    StateError: Rule(HTTPStatus.CONFLICT, "The request can't be served in the present state"),
    MemoryUnavailable: Rule(HTTPStatus.CONFLICT),
    RateLimitExceeded: Rule(HTTPStatus.TOO_MANY_REQUESTS, headers=_retry_as_told),
    IdempotencyConflict: Rule(HTTPStatus.CONFLICT),
    TaskFinished: Rule(HTTPStatus.CONFLICT),
    NoPreview: Rule(HTTPStatus.CONFLICT),
    IdempotencyMismatch: Rule(HTTPStatus.UNPROCESSABLE_ENTITY),
    QueueFull: Rule(HTTPStatus.TOO_MANY_REQUESTS, headers=_retry_as_told),
    SubscriberLimitExceeded: Rule(
        HTTPStatus.TOO_MANY_REQUESTS, headers=_retry(5), facts=lambda error: {"limit": error.limit}
    ),
    Overloaded: Rule(HTTPStatus.SERVICE_UNAVAILABLE, headers=_retry_as_told),
    DependencyError: Rule(
        HTTPStatus.SERVICE_UNAVAILABLE, "A part of the service does not answer", headers=_retry(1)
    ),
    StorageUnavailable: Rule(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "Storage does not answer; the request may or may not have been accepted",
        headers=_retry(1),
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
        body = {"error": self.message, "code": self.code, **self.facts}
        if not _wants_problem(accept):
            return json_response(body, status=self.status, headers=self.headers)
        details = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.message,
            "instance": instance,
        }
        return json_response(
            {**details, **body}, status=self.status, headers=self.headers, content_type=PROBLEM_TYPE
        )


def problem_of(error: MemlaneError) -> Problem:
    """Translate one of our errors; nothing but its public text and facts gets out."""
    rule = next(RULES[kind] for kind in type(error).__mro__ if kind in RULES)
    return Problem(
        int(rule.status),
        error.code,
        rule.message if rule.message is not None else str(error),
        headers=rule.headers(error),
        facts=rule.facts(error),
    )


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


def revalidated(body: Mapping[str, Any]) -> Response:
    """Answer the current request with JSON, or with 304 if the caller has it already."""
    response = json_response(body)
    response.add_etag(weak=True)
    return response.make_conditional(request.environ)


def _wants_problem(accept: MIMEAccept) -> bool:
    asked = any(value.lower() == PROBLEM_TYPE for value in accept.values())
    return asked and accept[PROBLEM_TYPE] > 0 and accept[PROBLEM_TYPE] >= accept["application/json"]
