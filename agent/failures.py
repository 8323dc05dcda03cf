"""The one table that turns errors into what the wire says of a failed memory call."""

from dataclasses import dataclass
from typing import Any

from agent.errors import (
    ModelRejected,
    ModelUnavailable,
    NoUpdate,
    RunStopped,
    ScopeMismatch,
    TaskTimeout,
)
from core.acp import ErrorKind
from memory.errors import (
    CommitConflict,
    DocumentInvalid,
    LeaseLost,
    PathEscape,
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

    def to_wire(self) -> dict[str, Any]:
        """``data`` of the JSON-RPC error."""
        fence = {} if self.stored_fence is None else {"storedFence": self.stored_fence}
        return {"errorKind": self.kind, "details": self.details} | fence


_FAILURES: dict[type[Exception], Failure] = {
    CommitConflict: Failure("memory_conflict", "Memory was changed by another writer at the same time"),
    DocumentInvalid: Failure("memory_invalid", "The agent did not produce a well-formed memory document"),
    NoUpdate: Failure("remember_no_update", "Remember agent did not update any memory"),
    PathEscape: Failure("remember_path_escape", "Remember agent wrote outside of managed memory"),
    ScopeMismatch: Failure(
        "remember_scope_mismatch", "Remember agent wrote to a scope that was not asked for"
    ),
    StoreBusy: Failure("store_busy", "The memory store was locked for too long"),
    StoreUnusable: Failure("managed_memory_unavailable", "The memory store can't be used"),
    TaskClosed: Failure("task_closed", "The task was closed before"),
    TaskTimeout: Failure("remember_timeout", "Remember agent ran out of time"),
}


def failure_of(error: Exception) -> Failure:
    """Translate an error; one that is not in the table is ``remember_failed`` without its text."""
    if isinstance(error, LeaseLost):
        return Failure("lease_lost", "Another worker has taken over the lane", error.stored_fence)
    if isinstance(error, RunStopped):
        return Failure("remember_failed", error.reason)
    if isinstance(error, ModelRejected):
        return Failure("model_rejected", str(error))
    if isinstance(error, ModelUnavailable):
        return Failure("model_unavailable", str(error))
    return _FAILURES.get(type(error)) or Failure("remember_failed", f"Unexpected {type(error).__name__}")
