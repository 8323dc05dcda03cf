"""The one table that turns errors into what the wire says of a failed memory call."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.errors import (
    BudgetExceeded,
    DocumentStands,
    ModelRejected,
    ModelUnavailable,
    NoUpdate,
    ReviewOutdated,
    RunStopped,
    ScopeForbidden,
    ScopeMismatch,
    SecretDetected,
    SelectionFailed,
    TaskCancelled,
    TaskTimeout,
)
from core.acp import ErrorKind
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


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call failed.

    Attributes:
        details: one sentence or word for a person; never text of the request, of memory or of a model.
        stored_fence: the fence that ours is behind, for ``lease_lost``.
    """

    kind: ErrorKind
    details: str
    stored_fence: int | None = None

    @property
    def is_timeout(self) -> bool:
        """Whether the call ran out of its own time."""
        return self.kind in _TIMED_OUT.values()

    def to_wire(self) -> dict[str, Any]:
        """``data`` of the JSON-RPC error."""
        fence = {} if self.stored_fence is None else {"storedFence": self.stored_fence}
        return {"errorKind": self.kind, "details": self.details} | fence


_FAILED: Mapping[Kind, ErrorKind] = {
    "remember": "remember_failed",
    "forget": "forget_failed",
    "dream": "dream_failed",
    "undo": "undo_failed",
    "import": "import_failed",
    "review": "review_failed",
}
_TIMED_OUT: Mapping[Kind, ErrorKind] = {
    "remember": "remember_timeout",
    "forget": "forget_timeout",
    "dream": "dream_timeout",
    "undo": "undo_timeout",
    "import": "import_timeout",
    "review": "review_timeout",
}
_FAILURES: Mapping[type[Exception], Failure] = {
    BudgetExceeded: Failure("budget_exceeded", "The task took more than the policy allows"),
    CommitConflict: Failure("memory_conflict", "Memory was changed by another writer at the same time"),
    DocumentStands: Failure("memory_conflict", "Another document stands where one is to be imported"),
    DocumentInvalid: Failure("memory_invalid", "The agent did not produce a well-formed memory document"),
    PreviewStale: Failure("preview_stale", "Memory has changed since the preview, or the preview is gone"),
    ReviewOutdated: Failure("memory_conflict", "The document is not as it was reviewed"),
    RevisionNotFound: Failure("revision_not_found", "There is no such revision of this memory"),
    RevisionPruned: Failure("revision_not_found", "The texts of the revision are not kept any more"),
    ScopeForbidden: Failure("scope_forbidden", "The policy allows no change in this scope"),
    SecretDetected: Failure("secret_detected", "What was to be remembered holds what looks like a secret"),
    StoreBusy: Failure("store_busy", "The memory store was locked for too long"),
    StoreUnusable: Failure("managed_memory_unavailable", "The memory store can't be used"),
    TaskCancelled: Failure("task_cancelled", "The task was cancelled"),
    TaskClosed: Failure("task_closed", "The task was closed before"),
}
# kinds that only the remember method has; in any other these errors are failures of their kind
_OF_REMEMBER: Mapping[type[Exception], ErrorKind] = {
    NoUpdate: "remember_no_update",
    PathEscape: "remember_path_escape",
    ScopeMismatch: "remember_scope_mismatch",
}
_DETAILS: Mapping[type[Exception], str] = {
    NoUpdate: "agent did not update any memory",
    PathEscape: "agent wrote outside of managed memory",
    ScopeMismatch: "agent wrote to a scope that was not asked for",
    SelectionFailed: "agent could not tell which entries are meant",
    TaskTimeout: "agent ran out of time",
}


def failure_of(error: Exception, kind: Kind) -> Failure:
    """Translate an error of a task of this kind; an unknown one is ``<kind>_failed`` without its text."""
    if isinstance(error, LeaseLost):
        return Failure("lease_lost", "Another worker has taken over the lane", error.stored_fence)
    if isinstance(error, ModelRejected):
        return Failure("model_rejected", str(error))
    if isinstance(error, ModelUnavailable):
        return Failure("model_unavailable", str(error))
    if isinstance(error, RunStopped):
        return Failure(_FAILED[kind], error.reason)
    known = _FAILURES.get(type(error))
    return known or Failure(_kind_of(error, kind), _details_of(error, kind))


def failure_of_prompt(error: Exception) -> dict[str, str]:
    """``data`` of the JSON-RPC error of a prompt that could not be answered."""
    if isinstance(error, ModelRejected | ModelUnavailable):
        return {"errorKind": error.code, "details": str(error)}
    if isinstance(error, TaskTimeout):
        return {"errorKind": "prompt_timeout", "details": "The prompt took too long"}
    known = _FAILURES.get(type(error))
    unknown = {"errorKind": "prompt_failed", "details": f"Unexpected {type(error).__name__}"}
    return unknown if known is None else known.to_wire()


def overloaded(kind: Kind) -> Failure:
    """The failure of a call that came while too many others waited."""
    return Failure(_FAILED[kind], "Too many calls are waiting")


def _kind_of(error: Exception, kind: Kind) -> ErrorKind:
    if isinstance(error, TaskTimeout):
        return _TIMED_OUT[kind]
    own = _OF_REMEMBER.get(type(error)) if kind == "remember" else None
    return own or _FAILED[kind]


def _details_of(error: Exception, kind: Kind) -> str:
    details = _DETAILS.get(type(error))
    return f"{kind.capitalize()} {details}" if details else f"Unexpected {type(error).__name__}"
