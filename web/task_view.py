"""How a task record looks from outside."""

from typing import Any

from core.clock import rfc3339
from jobs.tasks import Task
from web.schemas import TaskError, TaskObject

CANCELLED_CODE = "task_cancelled"
CANCELLED_MESSAGE = "The task was cancelled."


def describe_accepted(task: Task) -> dict[str, Any]:
    """Render the answer to a submission: no result, no error."""
    return TaskObject(**_basics(task)).to_wire()


def describe(task: Task, *, home: str) -> dict[str, Any]:
    """Render a task that is looked up.

    Args:
        home: absolute path that results show as ``~``.
    """
    return TaskObject(**_basics(task), **_ending(task, home)).to_wire()


def _basics(task: Task) -> dict[str, Any]:
    optional = {
        "context_mode": task.context_mode,
        "scope": task.scope,
        "position": task.position,
        "started_at": _time(task.started_ms),
        "finished_at": _time(task.finished_ms),
        "revision": task.revision,
        "usage": task.usage,
    }
    return {
        "task_id": task.id,
        "status": "failed" if task.status == "cancelled" else task.status,
        "created_at": rfc3339(task.created_ms),
        "updated_at": rfc3339(task.updated_ms),
        "workspace_id": task.workspace,
        "attempt": task.attempt,
        **{name: value for name, value in optional.items() if value is not None},
    }


def _ending(task: Task, home: str) -> dict[str, Any]:
    if task.status == "completed":
        return {"result": _shorten_paths(task.result or {}, home), "outcome": task.status}
    if task.status == "failed":
        error = TaskError(code=task.error_code or "", message=task.error_message or "")
        return {"error": error, "outcome": task.status}
    if task.status == "cancelled":
        return {"error": TaskError(code=CANCELLED_CODE, message=CANCELLED_MESSAGE), "outcome": task.status}
    return {"result": None, "error": None}


def _shorten_paths(result: dict[str, Any], home: str) -> dict[str, Any]:
    touched = result.get("filesTouched")
    if not isinstance(touched, list):
        return result
    return {**result, "filesTouched": [_shorten(path, home) for path in touched]}


def _shorten(path: str, home: str) -> str:
    return "~" + path.removeprefix(home) if path.startswith(home.rstrip("/") + "/") else path


def _time(ms: int | None) -> str | None:
    return None if ms is None else rfc3339(ms)
