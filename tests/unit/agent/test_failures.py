import pytest

from agent.errors import (
    BudgetExceeded,
    DocumentStands,
    ModelRejected,
    ModelUnavailable,
    NoUpdate,
    RunStopped,
    ScopeForbidden,
    ScopeMismatch,
    SecretDetected,
    SelectionFailed,
    TaskTimeout,
)
from agent.failures import failure_of, overloaded
from core.ids import Kind
from memory.errors import (
    CommitConflict,
    DocumentInvalid,
    LeaseLost,
    PathEscape,
    PreviewStale,
    RevisionNotFound,
    RevisionPruned,
    StoreBusy,
    StoreUnusable,
    TaskClosed,
)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (BudgetExceeded("x"), "budget_exceeded"),
        (CommitConflict(["/a"]), "memory_conflict"),
        (DocumentInvalid("/a", "why"), "memory_invalid"),
        (DocumentStands("x"), "memory_conflict"),
        (LeaseLost("x", stored_fence=3), "lease_lost"),
        (ModelRejected(401), "model_rejected"),
        (ModelUnavailable("x"), "model_unavailable"),
        (NoUpdate("x"), "remember_no_update"),
        (PathEscape("x"), "remember_path_escape"),
        (PreviewStale("x", paths=()), "preview_stale"),
        (RevisionNotFound("x"), "revision_not_found"),
        (RevisionPruned("x"), "revision_not_found"),
        (RunStopped("MAX_TURNS"), "remember_failed"),
        (ScopeForbidden("x"), "scope_forbidden"),
        (ScopeMismatch("x"), "remember_scope_mismatch"),
        (SecretDetected(["jwt"]), "secret_detected"),
        (SelectionFailed("x"), "remember_failed"),
        (StoreBusy("x"), "store_busy"),
        (StoreUnusable("x"), "managed_memory_unavailable"),
        (TaskClosed("x"), "task_closed"),
        (TaskTimeout("x"), "remember_timeout"),
        (ValueError("x"), "remember_failed"),
    ],
)
def test_each_error_has_its_kind(error: Exception, kind: str) -> None:
    assert failure_of(error, "remember").kind == kind


def test_the_text_of_an_unexpected_error_stays_inside() -> None:
    assert failure_of(ValueError("the secret text"), "remember").details == "Unexpected ValueError"


def test_a_lost_lease_says_which_fence_took_it() -> None:
    assert failure_of(LeaseLost("x", stored_fence=3), "remember").to_wire() == {
        "errorKind": "lease_lost",
        "details": "Another worker has taken over the lane",
        "storedFence": 3,
    }


def test_no_other_failure_speaks_of_a_fence() -> None:
    assert set(failure_of(TaskTimeout("x"), "remember").to_wire()) == {"errorKind", "details"}


def test_details_name_the_status_and_the_reason() -> None:
    assert "401" in failure_of(ModelRejected(401), "remember").details
    assert failure_of(RunStopped("MAX_TURNS"), "remember").details == "MAX_TURNS"


@pytest.mark.parametrize("kind", ["forget", "dream"])
@pytest.mark.parametrize(
    ("error", "suffix"),
    [
        (TaskTimeout("x"), "timeout"),
        (PathEscape("x"), "failed"),
        (ScopeMismatch("x"), "failed"),
        (RunStopped("MAX_TURNS"), "failed"),
        (ValueError("x"), "failed"),
    ],
)
def test_what_only_remember_has_a_kind_for_is_a_failure_of_the_others(
    kind: Kind, error: Exception, suffix: str
) -> None:
    failure = failure_of(error, kind)

    assert failure.kind == f"{kind}_{suffix}"
    assert failure.is_timeout == (suffix == "timeout")
    assert "emember" not in failure.details


def test_details_name_the_agent_of_their_kind() -> None:
    assert failure_of(TaskTimeout("x"), "dream").details == "Dream agent ran out of time"
    assert failure_of(PathEscape("x"), "dream").details == "Dream agent wrote outside of managed memory"


def test_a_call_too_many_fails_as_its_kind() -> None:
    assert overloaded("forget").kind == "forget_failed"
