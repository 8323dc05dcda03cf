"""What clients do to lanes: submit and cancel."""

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from core.ids import Kind, TaskId, WorkspaceId
from core.keys import CONTROL_CHANNEL
from jobs.errors import (
    IdempotencyConflict,
    IdempotencyMismatch,
    InputGone,
    MemoryUnavailable,
    Overloaded,
    QueueFull,
)
from jobs.failures import CANCELLED
from jobs.limits import DOORBELL_MS, IDEMPOTENCY_MS, MAX_PENDING, MAX_RECORDS, MAX_UPKEEP, LaneLimits
from jobs.scripts import lane_keys, lane_scripts, log_args, stamp_in, state_keys
from jobs.tasks import Submission, compact_json

if TYPE_CHECKING:
    import redis

DEFAULT_RETRY_MS = 5_000
HELD_RETRY_S = 30  # nobody can tell when an operator lets the lane go on
LONGEST_RETRY_S = 300  # what is reckoned from an average is no reason to stay away for longer

Gate = Literal["open", "busy", "closed"]
CancelAnswer = Literal["cancelled", "cancelling", "terminal", "gone"]


@dataclass(frozen=True, slots=True)
class Accepted:
    """A task that is durable.

    Attributes:
        task: another id than the one submitted when an idempotency key had made a task before.
        doorbell_ms: stamp to ring the lane's doorbell with, None when a worker will come anyway.
        fresh: False when it was accepted before; ``position`` and ``accepted_ms`` are 0 then.
        made_by: the idempotency key that it was accepted with before, if that told.
    """

    task: TaskId
    doorbell_ms: int | None
    position: int
    accepted_ms: int
    fresh: bool
    made_by: str | None = None


class Intake:
    """The scripts that clients cause to run. Every call is safe to repeat after a lost reply."""

    def __init__(self, client: "redis.Redis", limits: LaneLimits) -> None:
        self._scripts = lane_scripts(client)
        self._limits = limits

    def submit(
        self, workspace: WorkspaceId, task: TaskId, submission: Submission, *, gate: Gate = "open"
    ) -> Accepted:
        """Accept a task at the end of the lane, in one step with its record and event.

        Args:
            gate: ``busy`` refuses lanes that have nothing queued or running, ``closed`` all. An idempotency
                key that was accepted before passes any gate.

        Raises:
            QueueFull: a cap is reached.
            Overloaded, MemoryUnavailable: see ``gate``.
            IdempotencyMismatch, IdempotencyConflict: a key was used for something else, or is forgotten.
            InputGone: the request to repeat is not kept any more.
            StorageFull: Redis is out of memory.
            StorageUnavailable: no answer; the task may have been accepted. Repeat with the same id.
        """
        keys = lane_keys(workspace)
        script_keys = [*state_keys(keys), keys.task(task), keys.input(task)]
        idempotency = [keys.idempotency(key) for key in submission.idempotency_keys]
        args = [*log_args(keys), task, *self._submit_args(submission, gate)]
        reply = self._scripts.call("submit", [*script_keys, *idempotency], args)
        if reply[0] == "dup":
            by = ("", *submission.idempotency_keys)[int(reply[2])]
            return Accepted(TaskId(reply[1]), None, 0, 0, fresh=False, made_by=by or None)
        if reply[0] != "ok":
            raise _refusal(reply, submission.kind)
        return Accepted(task, stamp_in(reply[2]), int(reply[1]), int(reply[3]), fresh=True)

    def cancel(self, workspace: WorkspaceId, task: TaskId) -> CancelAnswer:
        """Cancel a task.

        Returns:
            ``cancelled``: it never ran and never will. ``cancelling``: its worker is told; it ends cancelled
            unless it has committed. ``terminal``: it has ended. ``gone``: there is no such task.

        Raises:
            StorageUnavailable: no answer; repeat.
        """
        keys = lane_keys(workspace)
        limits = [self._limits.task_ttl_ms, self._limits.input_keep_ms, MAX_RECORDS]
        reply = self._scripts.call(
            "cancel",
            state_keys(keys),
            [*log_args(keys), task, CANCELLED.code, CANCELLED.message, *limits, DOORBELL_MS, CONTROL_CHANNEL],
        )
        answer: CancelAnswer = reply[0]
        return answer

    def _submit_args(self, submission: Submission, gate: Gate) -> list[Any]:
        retried = submission.retry_of or ""
        text = "" if retried else compact_json(submission.input)
        request_hash = _hash(submission, text or f"retry of {retried}") if submission.idempotency_keys else ""
        return [
            *(submission.kind, text, submission.client_id or ""),
            *(MAX_PENDING, MAX_UPKEEP, MAX_RECORDS, self._limits.task_ttl_ms, DOORBELL_MS),
            *(request_hash, IDEMPOTENCY_MS, gate, retried),
            *_record_fields(submission),
        ]


def _record_fields(submission: Submission) -> list[str]:
    """Names and values of what came with the request."""
    fields = {
        "contextMode": submission.context_mode,
        "scope": submission.scope,
        "clientId": submission.client_id,
        "requestId": submission.request_id,
        "traceparent": submission.traceparent,
        "retryOf": submission.retry_of,
    }
    return [text for name, value in fields.items() if value for text in (name, value)]


def _hash(submission: Submission, text: str) -> str:
    parts = (submission.kind, submission.context_mode or "", submission.scope or "", text)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


_REFUSALS: Final[Mapping[str, Callable[[], Exception]]] = {
    "mismatch": lambda: IdempotencyMismatch("The Idempotency-Key was used for another request"),
    "evicted": lambda: IdempotencyConflict("The task that this Idempotency-Key made is no longer known"),
    "input_gone": lambda: InputGone("The request of this task is not kept any more"),
    "closed": lambda: MemoryUnavailable("Managed memory is unavailable for this daemon workspace"),
    "overloaded": lambda: Overloaded("The workers are far behind.", retry_after_s=DEFAULT_RETRY_MS // 1000),
}


def _refusal(reply: list[Any], kind: Kind) -> Exception:
    if reply[0] in _REFUSALS:
        return _REFUSALS[reply[0]]()
    name = "remember" if kind == "remember" else "task"
    average_ms, ends, ran_ms = (int(number) for number in reply[1:])
    return QueueFull(
        f"Workspace memory {name} queue is full.",
        retry_after_s=_room_after_s(average_ms or DEFAULT_RETRY_MS, ends, ran_ms=ran_ms),
    )


def _room_after_s(average_ms: int, ends: int, *, ran_ms: int) -> int:
    """When there is likely to be room again, from 1 to 300 s.

    Args:
        average_ms: what a task of the lane takes.
        ends: how many have to end before; 0 when none will start.
        ran_ms: how long the first of them has run.
    """
    if ends == 0:
        return HELD_RETRY_S
    return min(max(1, math.ceil((ends * average_ms - ran_ms) / 1000)), LONGEST_RETRY_S)
