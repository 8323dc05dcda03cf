"""Lanes: the scripts as typed calls. Every call is safe to repeat after a lost reply."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from core.ids import ClaimId, Kind, TaskId, WorkspaceId, new_uuid
from core.keys import PARTITIONS, LaneKeys, PartitionKeys
from events.connect import storage_errors
from jobs.errors import QueueFull
from jobs.scripts import Scripts
from jobs.tasks import End, Fence, Submission, Task, compact_json, fit_result, from_record

if TYPE_CHECKING:
    import redis

MAX_PENDING = 16
MAX_UPKEEP = 8  # of these, tasks of other kinds than remember
MAX_RECORDS = 1000
DOORBELL_MS = 5_000  # a doorbell that led to nothing for so long is rung again
DEFAULT_RETRY_MS = 5_000

FinishAnswer = Literal["ok", "already", "fenced"]


@dataclass(frozen=True, slots=True)
class LaneLimits:
    """Times that lanes are run with, milliseconds, and the number of runs a task gets."""

    lease_ms: int
    task_ttl_ms: int
    input_keep_ms: int
    max_attempts: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """A task that is now durable.

    Attributes:
        doorbell_ms: stamp to ring the lane's doorbell with, None when a worker will come anyway.
        fresh: False when the same id was accepted before; ``position`` and ``accepted_ms`` are 0 then.
    """

    doorbell_ms: int | None
    position: int
    accepted_ms: int
    fresh: bool


@dataclass(frozen=True, slots=True)
class Grant:
    """The right to run one task.

    Attributes:
        mode: ``resolve`` means that the attempts are used up: find out how the task ended, don't run it.
        fence: greater than any that this lane gave before.
    """

    mode: Literal["run", "resolve"]
    task: Task
    claim: ClaimId
    fence: Fence
    input: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Lease:
    """What a holder must show to keep its lane."""

    workspace: WorkspaceId
    claim: ClaimId
    fence: Fence


@dataclass(frozen=True, slots=True)
class Finished:
    """What became of an end that was reported.

    Attributes:
        answer: ``fenced`` means that the lane has gone on without us and nothing was written.
        doorbell_ms: stamp to ring with when the lane has more to do.
    """

    answer: FinishAnswer
    doorbell_ms: int | None = None


class Lanes:
    """The lanes of all workspaces."""

    def __init__(self, client: "redis.Redis", limits: LaneLimits) -> None:
        self._redis = client
        self._scripts = Scripts(client)
        self._limits = limits

    def submit(self, workspace: WorkspaceId, task: TaskId, submission: Submission) -> Accepted:
        """Accept a task at the end of the lane, in one step with its record and event.

        Raises:
            QueueFull: a cap is reached.
            StorageFull: Redis is out of memory.
            StorageUnavailable: no answer; the task may have been accepted. Repeat with the same id.
        """
        keys = LaneKeys(workspace)
        reply = self._call(
            "submit",
            [*_state_keys(keys), keys.events, keys.task(task), keys.input(task)],
            [
                *_log_args(keys),
                *(task, submission.kind, compact_json(submission.input)),
                *(submission.context_mode or "", submission.scope or ""),
                *(submission.client_id or "", submission.request_id or ""),
                *(MAX_PENDING, MAX_UPKEEP, MAX_RECORDS, self._limits.task_ttl_ms, DOORBELL_MS),
            ],
        )
        if reply[0] == "full":
            raise _queue_full(submission.kind, average_ms=int(reply[1]))
        if reply[0] == "dup":
            return Accepted(None, 0, 0, fresh=False)
        return Accepted(_stamp(reply[2]), int(reply[1]), int(reply[3]), fresh=True)

    def claim(self, workspace: WorkspaceId, claim: ClaimId, *, store_id: str) -> Grant | None:
        """Take the lane's lease if it is free, with its head task.

        A lease past its end counts as free: its holder is presumed dead, and the fencing token is what
        keeps it harmless should it wake up.

        Args:
            claim: unique per execution of the actor; the same claim gets the same grant again.
            store_id: memory store of this worker; another than the lane's is refused.

        Returns:
            None while another lease lives, when nothing is queued, or when the store is a foreign one.

        Raises:
            StorageUnavailable: no answer; the lane may or may not be ours. Claim again with the same id.
        """
        keys = LaneKeys(workspace)
        reply = self._call(
            "claim",
            [keys.lane, keys.pending, keys.partition.due, keys.partition.wait, keys.events],
            [
                *_log_args(keys),
                *(claim, self._limits.lease_ms, self._limits.max_attempts, DOORBELL_MS, store_id),
            ],
        )
        if reply[0] not in ("run", "resolve"):
            return None
        return _grant(reply, claim)

    def renew(self, leases: Sequence[Lease]) -> list[bool]:
        """Extend leases in one round trip; False means that one is lost for good.

        Raises:
            StorageUnavailable: no answer; each lease may or may not have been extended.
        """
        calls = []
        for lease in leases:
            keys = LaneKeys(lease.workspace)
            args = [lease.workspace, lease.claim, lease.fence, self._limits.lease_ms]
            calls.append(([keys.lane, keys.partition.due], args))
        return [reply[0] == "ok" for reply in self._call_many("renew", calls)]

    def finish_if_current(self, workspace: WorkspaceId, grant: Grant, end: End) -> Finished:
        """Write a run's end, in one step with its events, if the grant is still the lane's own.

        Raises:
            StorageUnavailable: no answer; repeat until there is one.
        """
        keys = LaneKeys(workspace)
        task = grant.task.id
        result = fit_result(end.result) if end.result is not None else None
        reply = self._call(
            "finish",
            [*_state_keys(keys), keys.events, keys.task(task), keys.input(task)],
            [
                *_log_args(keys),
                *(grant.claim, grant.fence, task, end.status, end.code or "", end.message or ""),
                *(compact_json(result), end.revision or "", compact_json(end.usage)),
                compact_json(end.memory_changed),
                *(self._limits.task_ttl_ms, self._limits.input_keep_ms, MAX_RECORDS, DOORBELL_MS),
            ],
        )
        return Finished(reply[0], _stamp(reply[1]) if reply[0] == "ok" else None)

    def sweep(self, partitions: Sequence[int] = range(PARTITIONS)) -> list[tuple[WorkspaceId, int]]:
        """Find lanes whose doorbell must be rung (again), with the stamp to ring with.

        Raises:
            StorageUnavailable: no answer; lanes already found come up again when their time has come.
        """
        keys = [PartitionKeys(number) for number in partitions]
        replies = self._call_many("sweep", [([part.due], [part.prefix, DOORBELL_MS]) for part in keys])
        return [
            (WorkspaceId(reply[i]), int(reply[i + 1])) for reply in replies for i in range(0, len(reply), 2)
        ]

    def _call(self, name: str, keys: list[str], args: list[Any]) -> list[Any]:
        with storage_errors():
            reply: list[Any] = self._scripts[name](keys=keys, args=args)
        return reply

    def _call_many(self, name: str, calls: Sequence[tuple[list[str], list[Any]]]) -> list[Any]:
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            for keys, args in calls:
                self._scripts[name](keys=keys, args=args, client=pipe)
            return pipe.execute()


def _state_keys(keys: LaneKeys) -> list[str]:
    shared = keys.partition
    return [keys.lane, keys.pending, keys.index, keys.done, shared.due, shared.wait, shared.stats]


def _log_args(keys: LaneKeys) -> list[str]:
    return [keys.base, keys.workspace, keys.channel, new_uuid()]


def _stamp(text: str) -> int | None:
    return int(text) or None


def _queue_full(kind: Kind, *, average_ms: int) -> QueueFull:
    name = "remember" if kind == "remember" else "task"
    return QueueFull(
        f"Workspace memory {name} queue is full.",
        retry_after_s=max(1, math.ceil((average_ms or DEFAULT_RETRY_MS) / 1000)),
    )


def _grant(reply: list[Any], claim: ClaimId) -> Grant:
    mode, fence, input_json, flat = reply
    record = dict(zip(flat[::2], flat[1::2], strict=True))
    return Grant(mode, from_record(record), claim, Fence(int(fence)), json.loads(input_json))
