"""The task record: what it holds, how it reads from Redis, which ends it can have."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NewType, cast, get_args

from core.ids import Kind, TaskId, WorkspaceId

Status = Literal["queued", "running", "completed", "failed", "cancelled"]
EndStatus = Literal["completed", "failed", "cancelled", "queued"]  # queued: handed back to the lane's head
Cause = Literal["store_busy", "lease_lost", "unresolved"]
Fence = NewType("Fence", int)

STATUSES: frozenset[Status] = frozenset(get_args(Status))
TERMINAL: frozenset[Status] = frozenset({"completed", "failed", "cancelled"})

MAX_RESULT_BYTES = 256 * 1024

# made once: json.dumps makes one for each call that has options
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


@dataclass(frozen=True, slots=True)
class Submission:
    """What a client asks for, already validated.

    Attributes:
        input: JSON object that the worker gets.
        client_id: who asked; the task is visible with the same id only.
        traceparent: W3C trace context of the request.
        idempotency_keys: digests; the first of them that has made a task within the last 24 h gives that
            task again, to the same request only.
        retry_of: an ended task of the same kind, whose request is the new one's, too; ``input`` is ignored.
    """

    kind: Kind
    input: Mapping[str, Any]
    context_mode: str | None = None
    scope: str | None = None
    client_id: str | None = None
    request_id: str | None = None
    traceparent: str | None = None
    idempotency_keys: tuple[str, ...] = ()
    retry_of: TaskId | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """A task as its record says. Times are epoch milliseconds.

    Attributes:
        attempt: runs so far, 0 before the first.
        position: place in the lane from 1 while queued, else None.
        result: parsed result once completed.
        progress: how far it is, or was when its run last said so; None when it never did.
        request_id, traceparent: of the request that asked for it.
        retry_of: the task whose request this one repeats.
        cancel_requested: somebody wants it cancelled; it may complete all the same.
        handed_back: a run of it ended without an end, so it may have committed.
    """

    id: TaskId
    workspace: WorkspaceId
    kind: Kind
    status: Status
    created_ms: int
    updated_ms: int
    started_ms: int | None = None
    finished_ms: int | None = None
    context_mode: str | None = None
    scope: str | None = None
    client_id: str | None = None
    request_id: str | None = None
    traceparent: str | None = None
    retry_of: TaskId | None = None
    attempt: int = 0
    position: int | None = None
    result: dict[str, Any] | None = None
    error_code: str | None = None
    error_message: str | None = None
    revision: str | None = None
    usage: dict[str, Any] | None = None
    progress: dict[str, Any] | None = None
    cancel_requested: bool = False
    handed_back: bool = False

    @property
    def is_terminal(self) -> bool:
        """Whether the task has ended for good."""
        return self.status in TERMINAL


@dataclass(frozen=True, slots=True)
class TaskOutline:
    """What became of a task, without what it was asked and what it said.

    Attributes:
        finished_ms: when it ended, epoch milliseconds; None before.
        is_preview: whether it is a dream that only showed what it would do.
    """

    id: TaskId
    kind: Kind
    finished_ms: int | None = None
    revision: str | None = None
    is_preview: bool = False


@dataclass(frozen=True, slots=True)
class End:
    """How a run ended.

    Attributes:
        status: ``queued`` hands the task back to the head of its lane.
        memory_changed: data of the event, when managed memory was really changed.
        cause: why the task is handed back; None for a shutdown, which never counts against it.
        keeps_input: whether the request is kept for a while; else it is deleted at once.
        purged: tasks by workspace whose requests and results have to go: memory forgot what they quote.
    """

    status: EndStatus
    code: str | None = None
    message: str | None = None
    result: Mapping[str, Any] | None = None
    revision: str | None = None
    usage: Mapping[str, Any] | None = None
    memory_changed: Mapping[str, Any] | None = None
    cause: Cause | None = None
    keeps_input: bool = True
    purged: Mapping[WorkspaceId, Sequence[TaskId]] = field(default_factory=dict)


def from_record(record: Mapping[str, str], *, position: int | None = None) -> Task:
    """Read a task hash; field names are the API's."""
    return Task(
        id=TaskId(record["taskId"]),
        workspace=WorkspaceId(record["workspaceId"]),
        kind=cast("Kind", record["kind"]),
        status=cast("Status", record["status"]),
        created_ms=_ms(record["createdAt"]),
        updated_ms=_ms(record["updatedAt"]),
        started_ms=_optional_ms(record.get("startedAt")),
        finished_ms=_optional_ms(record.get("finishedAt")),
        context_mode=record.get("contextMode"),
        scope=record.get("scope"),
        client_id=record.get("clientId"),
        request_id=record.get("requestId"),
        traceparent=record.get("traceparent"),
        retry_of=TaskId(record["retryOf"]) if "retryOf" in record else None,
        attempt=int(record["attempt"]),
        position=position,
        result=_optional_json(record.get("result")),
        error_code=record.get("errorCode"),
        error_message=record.get("errorMessage"),
        revision=record.get("revision"),
        usage=_optional_json(record.get("usage")),
        progress=_optional_json(record.get("progress")),
        cancel_requested=record.get("cancelRequested") == "1",
        handed_back="handedBack" in record,
    )


def outline_of(record: Mapping[str, str]) -> TaskOutline:
    """Read a task hash, or the part of it that an outline takes."""
    return TaskOutline(
        TaskId(record["taskId"]),
        cast("Kind", record["kind"]),
        finished_ms=_optional_ms(record.get("finishedAt")),
        revision=record.get("revision"),
        is_preview="preview" in (_optional_json(record.get("result")) or {}),
    )


def compact_json(value: Mapping[str, Any] | None) -> str:
    """Render for a script argument; None becomes the empty string."""
    return "" if value is None else _encode(value)


def fit_result(result: Mapping[str, Any], *, max_bytes: int = MAX_RESULT_BYTES) -> dict[str, Any]:
    """Halve the result's longest parts until it fits into a record, and say so with ``truncated: true``."""
    fitted = dict(result)
    while len(compact_json(fitted).encode()) > max_bytes:
        smaller = _halved(fitted)
        if smaller == fitted:
            break
        fitted = {**smaller, "truncated": True}
    return fitted


def _halved(value: Any) -> Any:
    """The value with its longest list or text, at whatever depth, half as long."""
    if isinstance(value, dict) and value:
        longest = max(value, key=lambda name: len(json.dumps(value[name])))
        return {**value, longest: _halved(value[longest])}
    if isinstance(value, list) and len(value) == 1 and not isinstance(value[0], int | float):
        return [_halved(value[0])]
    return value[: len(value) // 2] if isinstance(value, list | str) else value


def _ms(stamp: str) -> int:
    # Z and exactly three decimals, as the scripts write it
    return round(datetime.fromisoformat(stamp).timestamp() * 1000)


def _optional_ms(stamp: str | None) -> int | None:
    return None if stamp is None else _ms(stamp)


def _optional_json(text: str | None) -> dict[str, Any] | None:
    return None if text is None else cast("dict[str, Any]", json.loads(text))
