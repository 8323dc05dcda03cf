"""How a task record looks from outside."""

from typing import Any

from core.clock import rfc3339
from jobs.tasks import Status, Task
from web.answers.tasks import Outcome, TaskError, TaskObject


def describe_accepted(task: Task) -> dict[str, Any]:
    """Render the answer to a submission: no result, no error."""
    return _view(task, result=None).to_wire()


def describe_listed(task: Task) -> TaskObject:
    """Describe a task among others, without its result."""
    return _view(task, result=None)


def describe(task: Task, *, home: str) -> dict[str, Any]:
    """Render a task that is looked up; until it has ended, result and error are there and null.

    Args:
        home: absolute path that results show as ``~``.
    """
    result = _shorten_paths(task.result or {}, home) if task.status == "completed" else None
    view = _view(task, result=result).to_wire()
    return view if task.is_terminal else view | {"result": None, "error": None}


def _view(task: Task, *, result: dict[str, Any] | None) -> TaskObject:
    return TaskObject(
        task_id=task.id,
        status="failed" if task.status == "cancelled" else task.status,
        created_at=rfc3339(task.created_ms),
        updated_at=rfc3339(task.updated_ms),
        context_mode=task.context_mode,
        scope=task.scope,
        result=result,
        error=_error(task),
        workspace_id=task.workspace,
        attempt=task.attempt,
        position=task.position,
        started_at=_time(task.started_ms),
        finished_at=_time(task.finished_ms),
        outcome=_outcome(task.status),
        revision=task.revision,
        usage=task.usage,
        cancel_requested=task.cancel_requested or None,
        progress=task.progress if task.status == "running" else None,
        request_id=task.request_id,
        traceparent=task.traceparent,
        retry_of=task.retry_of,
    )


def _error(task: Task) -> TaskError | None:
    if task.status not in ("failed", "cancelled"):
        return None
    return TaskError(code=task.error_code or "", message=task.error_message or "")


def _outcome(status: Status) -> Outcome | None:
    match status:
        case "queued" | "running":
            return None
        case _:
            return status


def _shorten_paths(result: dict[str, Any], home: str) -> dict[str, Any]:
    shown = dict(result)
    touched, removed = result.get("filesTouched"), result.get("removedEntries")
    if isinstance(touched, list):
        shown["filesTouched"] = [_shorten(path, home) for path in touched]
    if isinstance(removed, list):
        shown["removedEntries"] = [{**one, "filePath": _shorten(one["filePath"], home)} for one in removed]
    return shown


def _shorten(path: str, home: str) -> str:
    return "~" + path.removeprefix(home) if path.startswith(home.rstrip("/") + "/") else path


def _time(ms: int | None) -> str | None:
    return None if ms is None else rfc3339(ms)
