"""Why tasks fail: one stable code and one fixed public message each. Details go to the log only."""

from dataclasses import replace
from types import MappingProxyType
from typing import Final

from core.ids import Kind
from jobs.tasks import End

_MESSAGES = MappingProxyType(
    {
        "managed_memory_unavailable": "Managed memory is unavailable for this daemon workspace.",
        "remember_no_update": "Remember agent did not update any memory.",
        "remember_path_escape": "Remember agent touched a path outside managed memory.",
        "remember_scope_mismatch": "Remember agent wrote outside the requested memory scope.",
        "agent_unavailable": "The memory agent could not be started.",
        "model_unavailable": "The language model did not answer.",
        "model_rejected": "The language model rejected the request.",
        "budget_exceeded": "The task's budget is used up.",
        "scope_forbidden": "The workspace's policy allows no change in this memory scope.",
        "agent_unsupported": "The configured agent writes memory at once: it can neither preview nor purge.",
        "worker_lost": "The worker died while it ran the task.",
        "secret_detected": "The content holds what looks like a secret.",
        "memory_invalid": "The agent's changes to memory were not valid.",
        "memory_conflict": "Documents were changed meanwhile, or hold what an import may not replace.",
        "preview_stale": "Memory has changed since the preview was made, or the preview is gone.",
        "revision_not_found": "There is no such revision of this memory.",
    }
)


CANCELLED: Final = End("cancelled", code="task_cancelled", message="The task was cancelled.")


def after_changes(end: End) -> End:
    """The same end, for a task whose agent wrote to memory by itself before it came to that."""
    return replace(end, message=f"{end.message} Memory may have changed.")


def timed_out(kind: Kind) -> End:
    """The task took longer than it may."""
    return End("failed", code=f"{kind}_timeout", message=f"Workspace memory {kind} timed out.")


def failed(kind: Kind, code: str | None = None) -> End:
    """The task failed for a reason with a code of its own, else for one of its kind's own.

    Args:
        code: a public code or an error kind as an agent child gave it; unknown ones, such as internal
            codes that a foreign child leaks, become ``<kind>_failed``.
    """
    if code == f"{kind}_timeout":
        return timed_out(kind)
    message = _MESSAGES.get(code or "")
    if message is None:
        return End("failed", code=f"{kind}_failed", message=f"Workspace memory {kind} failed.")
    return End("failed", code=code, message=message, keeps_input=code != "secret_detected")
