import json

import pytest
from gunicorn.http import errors as http  # type: ignore[import-untyped]  # ships no types
from werkzeug.datastructures import MIMEAccept
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound
from werkzeug.http import parse_accept_header

from core.errors import DependencyError, InputError, MemlaneError, StateError
from events.errors import InvalidClientId, StorageFull, StorageUnavailable
from jobs.errors import (
    IdempotencyConflict,
    IdempotencyMismatch,
    InputGone,
    MemoryUnavailable,
    NoPreview,
    Overloaded,
    QueueFull,
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
from web.problems import framework_problem, problem_of, transport_problem


class Leaf(DependencyError):
    code = "leaf_of_this_test"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (InputError("x"), 400, "invalid_request"),
        (errors.InvalidContent("x"), 400, "invalid_content"),
        (errors.Unauthorized(), 401, "unauthorized"),
        (errors.HostRefused(), 403, "forbidden_host"),
        (errors.OriginRefused(), 403, "forbidden_origin"),
        (errors.InvalidQuery("x"), 400, "invalid_query"),
        (errors.InvalidDryRun("x"), 400, "invalid_dry_run"),
        (errors.InvalidPurge("x"), 400, "invalid_purge"),
        (errors.RememberTaskNotFound(), 404, "remember_task_not_found"),
        (errors.ForgetTaskNotFound(), 404, "forget_task_not_found"),
        (errors.DreamTaskNotFound(), 404, "dream_task_not_found"),
        (errors.TaskNotFound(), 404, "task_not_found"),
        (errors.DocumentNotFound(), 404, "document_not_found"),
        (RevisionNotFound("x"), 404, "revision_not_found"),
        (errors.NotUnderReview(), 409, "not_under_review"),
        (errors.InvalidDecision("x"), 400, "invalid_decision"),
        (errors.InvalidDigest("x"), 400, "invalid_sha256"),
        (CommitConflict(["user/a.md"]), 409, "memory_conflict"),
        (NoPreview("x"), 409, "no_preview"),
        (PreviewStale("x", paths=()), 409, "preview_stale"),
        (RevisionUndone("x"), 409, "revision_undone"),
        (RevisionPruned("x"), 410, "revision_pruned"),
        (errors.InvalidIdempotencyKey(), 400, "invalid_idempotency_key"),
        (errors.NotAcceptable(), 406, "not_acceptable"),
        (errors.PreconditionFailed(), 412, "precondition_failed"),
        (errors.BodyTimeout(), 408, "request_timeout"),
        (StateError("x"), 409, "wrong_state"),
        (MemoryUnavailable("x"), 409, "managed_memory_unavailable"),
        (IdempotencyConflict("x"), 409, "idempotency_conflict"),
        (TaskFinished("x"), 409, "task_finished"),
        (TaskNotFinished("x"), 409, "task_not_finished"),
        (InputGone("x"), 409, "input_gone"),
        (errors.PayloadTooLarge(), 413, "payload_too_large"),
        (ArchiveInvalid("a", "x"), 400, "invalid_archive"),
        (ArchiveTooLarge("x"), 413, "archive_too_large"),
        (errors.UnsupportedMediaType("x"), 415, "unsupported_media_type"),
        (errors.UpgradeRequired(), 426, "upgrade_required"),
        (IdempotencyMismatch("x"), 422, "idempotency_mismatch"),
        (QueueFull("x", retry_after_s=7), 429, "remember_queue_full"),
        (MemlaneError("x"), 500, "internal"),
        (Leaf("x"), 503, "leaf_of_this_test"),
        (StorageUnavailable("x"), 503, "storage_unavailable"),
        (StorageFull("x"), 503, "storage_full"),
        (Overloaded("x", retry_after_s=7), 503, "overloaded"),
        (errors.NotReady("x"), 503, "not_ready"),
    ],
)
def test_each_error_has_its_status_and_code(error: MemlaneError, status: int, code: str) -> None:
    problem = problem_of(error)

    assert (problem.status, problem.code) == (status, code)


@pytest.mark.parametrize(
    "error",
    [
        MemlaneError("secret"),
        StateError("secret"),
        DependencyError("secret"),
        Leaf("secret"),
        StorageUnavailable("secret"),
        StorageFull("secret"),
    ],
)
def test_the_text_of_what_is_not_the_callers_fault_stays_inside(error: MemlaneError) -> None:
    assert "secret" not in problem_of(error).message


def test_facts_of_an_error_get_out() -> None:
    assert problem_of(InvalidClientId("x", client_id="c")).facts == {"clientId": "c"}
    assert problem_of(InvalidClientId("x")).facts == {}
    assert problem_of(errors.WorkspaceMismatch("x", workspace_count=2)).facts == {"workspaceCount": 2}
    assert problem_of(errors.WorkspaceMismatch("x")).facts == {}
    assert problem_of(CommitConflict(["user/a.md"])).facts == {"documents": ["user/a.md"]}
    assert problem_of(QueueFull("x", retry_after_s=7)).headers == {"Retry-After": "7"}
    assert problem_of(Overloaded("x", retry_after_s=7)).headers == {"Retry-After": "7"}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (NotFound(), 404, "not_found"),
        (MethodNotAllowed(["GET"]), 405, "method_not_allowed"),
        (HTTPException(), 500, "internal"),
    ],
)
def test_what_the_framework_refuses_has_a_code(error: HTTPException, status: int, code: str) -> None:
    problem = framework_problem(error)

    assert (problem.status, problem.code) == (status, code)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (http.LimitRequestLine(9, 8), 414, "uri_too_long"),
        (http.ExpectationFailed("x"), 417, "expectation_failed"),
        (http.LimitRequestHeaders("x"), 431, "headers_too_large"),
        (http.UnsupportedTransferCoding("x"), 501, "unsupported_transfer_coding"),
        (http.InvalidHeaderName("x"), 400, "invalid_request"),
        (RuntimeError("x"), 500, "internal"),
    ],
)
def test_what_the_server_refuses_has_a_code(error: Exception, status: int, code: str) -> None:
    problem = transport_problem(error)

    assert (problem.status, problem.code) == (status, code)


def test_the_allowed_methods_are_kept() -> None:
    assert framework_problem(MethodNotAllowed(["GET"])).headers == {"Allow": "GET"}


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        (None, "application/json; charset=utf-8"),
        ("*/*", "application/json; charset=utf-8"),
        ("application/json", "application/json; charset=utf-8"),
        ("application/problem+json;q=0.5, application/json", "application/json; charset=utf-8"),
        ("application/problem+json;q=0", "application/json; charset=utf-8"),
        ("application/problem+json", "application/problem+json"),
        ("application/json, Application/Problem+JSON", "application/problem+json"),
    ],
)
def test_a_problem_document_is_given_to_who_asks_for_it(accept: str | None, content_type: str) -> None:
    response = problem_of(InvalidClientId("No.", client_id="c")).respond(
        parse_accept_header(accept, MIMEAccept), instance="/a"
    )

    body = json.loads(response.get_data())
    assert response.content_type == content_type
    assert (body["error"], body["code"], body["clientId"]) == ("No.", "invalid_client_id", "c")
    if content_type == "application/problem+json":
        assert body["type"] == "about:blank"
        assert (body["title"], body["status"]) == ("Bad Request", 400)
        assert (body["detail"], body["instance"]) == ("No.", "/a")
