"""Answers about tasks."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict
from pydantic.config import JsonDict

from core.acp import Scope, Usage
from core.memory_calls import Preview
from events.payloads import TaskProgress
from web.answers.shown import Absent, Moment, Shown, ShownAs

ShownStatus = Literal["queued", "running", "completed", "failed"]
Outcome = Literal["completed", "failed", "cancelled"]

_EXAMPLE: JsonDict = {
    "taskId": "remember-3f0c0d5e-8a0b-4b3f-9d59-0d8e2d9a6c11",
    "status": "completed",
    "createdAt": "2026-01-31T12:00:00.000Z",
    "updatedAt": "2026-01-31T12:00:00.250Z",
    "contextMode": "workspace",
    "result": {
        "summary": "Remembered: I prefer short answers.",
        "filesTouched": ["~/.qwen/memories/user/answers.md"],
        "touchedScopes": ["user"],
    },
    "workspaceId": "0295621f3cf988a7",
    "attempt": 1,
    "startedAt": "2026-01-31T12:00:00.010Z",
    "finishedAt": "2026-01-31T12:00:00.250Z",
    "outcome": "completed",
    "revision": "r1",
}


class RemovedEntry(Shown):
    """An entry that a forget removed.

    Attributes:
        topic: type of the document that held it.
        summary: its text as one line.
        file_path: absolute, home shown as ``~``.
    """

    topic: str
    summary: str
    file_path: str


class TaskResult(Shown):
    """What a completed task did; each kind fills its own fields.

    Attributes:
        touched_scopes: where memory changed, or would have.
        files_touched: of a remember: absolute paths, home shown as ``~``.
        removed_entries: of a forget.
        touched_topics: of a forget or dream: types of the documents that changed.
        deduped_entries: of a dream: how many documents and entries were merged into others.
        imported_documents: of an import: how many were written.
        skipped_documents: of an import: how many were there already, were kept, or may not be imported.
        purged: true when a later purge has taken away what was here.
        preview: of a dry run, which changes nothing.
    """

    summary: str
    touched_scopes: list[Scope] | Absent = None
    files_touched: list[str] | Absent = None
    removed_entries: list[RemovedEntry] | Absent = None
    touched_topics: list[str] | Absent = None
    deduped_entries: int | Absent = None
    imported_documents: int | Absent = None
    skipped_documents: int | Absent = None
    purged: bool | Absent = None
    preview: Preview | Absent = None


class TaskError(Shown):
    """Why a task failed: a stable code and its fixed public text."""

    code: str
    message: str


class TaskObject(Shown):
    """A task; ``result`` and ``error`` are null until it has ended, then one of them is left out.

    Attributes:
        created_at, updated_at, started_at, finished_at: RFC 3339, UTC, milliseconds.
        status: one of the contract's four; a cancelled task is ``failed`` with code ``task_cancelled``.
        scope: as it was sent.
        result: once completed.
        error: once failed.
        attempt: runs so far.
        position: place in the lane while queued, 1 is next.
        outcome: how it ended; absent before.
        revision: id of the commit, if memory changed.
        usage: what it cost, as far as that is known.
        cancel_requested: somebody wants it cancelled; it completes all the same if it had committed.
        progress: how far it is, while it runs and once it said so.
        request_id, traceparent: of the request that asked for it.
        retry_of: id of the task whose request it repeats.
    """

    model_config = ConfigDict(json_schema_extra={"examples": [_EXAMPLE]})

    task_id: str
    status: ShownStatus
    created_at: Moment
    updated_at: Moment
    context_mode: str | Absent = None
    scope: str | Absent = None
    result: Annotated[dict[str, Any], ShownAs(TaskResult)] | None = None
    error: TaskError | None = None
    workspace_id: str
    attempt: int
    position: int | Absent = None
    started_at: Moment | Absent = None
    finished_at: Moment | Absent = None
    outcome: Outcome | Absent = None
    revision: str | Absent = None
    usage: Annotated[dict[str, Any], ShownAs(Usage)] | Absent = None
    cancel_requested: Literal[True] | Absent = None
    progress: Annotated[dict[str, Any], ShownAs(TaskProgress)] | Absent = None
    request_id: str | Absent = None
    traceparent: str | Absent = None
    retry_of: str | Absent = None


class TaskPage(Shown):
    """Some tasks, newest first, without their results.

    Attributes:
        next_cursor: what to ask with for older ones; null when there are none.
    """

    tasks: list[TaskObject]
    next_cursor: str | None
