"""What workers do with lanes: claim, renew, finish. Every call is safe to repeat after a lost reply."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from core.acp import Progress
from core.ids import ClaimId, TaskId, WorkspaceId
from core.logs import get_logger
from jobs.limits import DOORBELL_MS, MAX_RECORDS, LaneLimits
from jobs.scripts import lane_keys, lane_scripts, log_args, stamp_in, state_keys
from jobs.tasks import End, Fence, Task, compact_json, fit_result, from_record

if TYPE_CHECKING:
    import redis

SCRUBBED_AT_ONCE = 200
PURGED_RESULT = compact_json({"summary": "", "touchedScopes": [], "purged": True})

_log = get_logger(__name__)

FinishAnswer = Literal["ok", "already", "fenced"]
Renewal = Literal["kept", "cancel", "lost"]


@dataclass(frozen=True, slots=True)
class Grant:
    """The right to run one task.

    Attributes:
        mode: ``resolve`` means: find out how the task ended, don't run it. Its attempts are used up, or it
            was cancelled after it had run.
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
class ProgressNote:
    """How far a task is, and what it runs under."""

    workspace: WorkspaceId
    grant: Grant
    progress: Progress


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
    """The lanes of all workspaces, as workers use them."""

    def __init__(self, client: "redis.Redis", limits: LaneLimits) -> None:
        self._scripts = lane_scripts(client, is_pinned=True)
        self._limits = limits

    def claim(self, workspace: WorkspaceId, claim: ClaimId, *, store_id: str) -> Grant | None:
        """Take the lane's lease if it is free, with its head task.

        A lease past its end counts as free: its holder is presumed dead, and the fencing token is what
        keeps it harmless should it wake up.

        Args:
            claim: unique per execution of the actor; the same claim gets the same grant again.
            store_id: memory store of this worker; another than the lane's is refused.

        Returns:
            None while another lease lives or the lane is held, when nothing is queued, or when the store is
            a foreign one.

        Raises:
            StorageUnavailable: no answer; the lane may or may not be ours. Claim again with the same id.
        """
        keys = lane_keys(workspace)
        asked = [claim, store_id, self._limits.lease_ms, self._limits.max_attempts, DOORBELL_MS]
        reply = self._scripts.call("claim", state_keys(keys), [*log_args(keys), *asked])
        return _grant(reply, claim, workspace=workspace)

    def renew(self, leases: Sequence[Lease]) -> list[Renewal]:
        """Extend leases in one round trip.

        Returns:
            For each lease: ``lost`` for good, ``cancel`` if its task is to be cancelled (the lease is kept),
            else ``kept``.

        Raises:
            StorageUnavailable: no answer; each lease may or may not have been extended.
        """
        calls = []
        for lease in leases:
            keys = lane_keys(lease.workspace)
            args = [keys.base, lease.workspace, lease.claim, lease.fence, self._limits.lease_ms]
            calls.append(("renew", [keys.lane, keys.partition.due], args))
        return [_renewal(reply) for reply in self._scripts.call_many(calls)]

    def tell_progress(self, notes: Sequence[ProgressNote]) -> None:
        """Write how far tasks are and tell who listens, in one round trip; nothing where the lease is lost.

        Raises:
            StorageFull: Redis is out of memory.
            StorageUnavailable: no answer; each may or may not have been told.
        """
        calls = []
        for note in notes:
            keys, grant, task = lane_keys(note.workspace), note.grant, note.grant.task
            facts = {name: value for name, value in note.progress.to_wire().items() if name != "taskId"}
            args = [keys.base, grant.claim, grant.fence, task.id, compact_json(facts)]
            event = compact_json(_progress_event(task, facts))
            calls.append(("progress", [keys.lane], [*args, keys.asides, task.client_id or "", event]))
        self._scripts.call_many(calls)

    def refence(self, lease: Lease, *, at_least: int) -> Fence | None:
        """Get a greater fence for a lease that is still ours; None when it is lost.

        Needed when the memory store has seen a greater fence than this Redis ever gave, as after a move to
        a server whose clock is behind.

        Raises:
            StorageUnavailable: no answer; if it was granted the old fence is lost and the lease runs out.
        """
        args = [lease.claim, lease.fence, at_least]
        reply = self._scripts.call("refence", [lane_keys(lease.workspace).lane], args)
        return Fence(int(reply[1])) if reply[0] == "ok" else None

    def finish_if_current(self, workspace: WorkspaceId, grant: Grant, end: End) -> Finished:
        """Write a run's end, in one step with its events, if the grant is still the lane's own.

        Raises:
            StorageUnavailable: no answer; repeat until there is one.
        """
        return _finished(self._finish(workspace, grant, end, following=("", "")))

    def finish_and_claim(
        self, workspace: WorkspaceId, grant: Grant, end: End, *, claim: ClaimId, store_id: str
    ) -> tuple[Finished, Grant | None]:
        """Write a run's end and take the lane's next task, in one step.

        See ``finish_if_current`` and ``claim``. Nobody is to be called: who gets no grant is not needed.

        Raises:
            StorageUnavailable: no answer; repeat with the same claim until there is one.
        """
        reply = self._finish(workspace, grant, end, following=(claim, store_id))
        return _finished(reply), _grant(reply[2:], claim, workspace=workspace)

    def scrub(self, workspace: WorkspaceId, tasks: Sequence[TaskId]) -> Literal[True]:
        """Take requests and results of ended tasks away; records that are gone, or have not ended, stay so.

        Raises:
            StorageUnavailable: no answer; repeat.
        """
        keys = lane_keys(workspace)
        for start in range(0, len(tasks), SCRUBBED_AT_ONCE):
            chunk = tasks[start : start + SCRUBBED_AT_ONCE]
            names = [name for task in chunk for name in (keys.task(task), keys.input(task))]
            self._scripts.call("scrub", names, [PURGED_RESULT])
        return True

    def _finish(
        self, workspace: WorkspaceId, grant: Grant, end: End, *, following: tuple[str, str]
    ) -> list[Any]:
        keys, limits = lane_keys(workspace), self._limits
        args = [
            *log_args(keys),
            *(grant.claim, grant.fence, grant.task.id, end.status, end.code or ""),
            *(compact_json(end.memory_changed), end.cause or ""),
            *(limits.task_ttl_ms, limits.input_keep_ms if end.keeps_input else 0, MAX_RECORDS, DOORBELL_MS),
            *(*following, limits.lease_ms, limits.max_attempts),
            *_outcome_fields(end),
        ]
        return self._scripts.call("finish", state_keys(keys), args)


def _progress_event(task: Task, facts: Mapping[str, Any]) -> dict[str, Any]:
    names = {"taskId": task.id, "kind": task.kind, "status": "running", "attempt": task.attempt}
    return {**names, "progress": facts}


def _outcome_fields(end: End) -> list[str]:
    """Names and values of what an end adds to its record."""
    fields = {
        "errorCode": end.code,
        "errorMessage": end.message,
        "result": compact_json(fit_result(end.result)) if end.result is not None else None,
        "revision": end.revision,
        "usage": compact_json(end.usage),
    }
    return [text for name, value in fields.items() if value for text in (name, value)]


def _grant(reply: list[Any], claim: ClaimId, *, workspace: WorkspaceId) -> Grant | None:
    if reply[0] == "foreign":
        _log.warning("lane_of_another_store", workspace=workspace)
    if reply[0] not in ("run", "resolve"):
        return None
    mode, fence, input_json, flat = reply
    record = dict(zip(flat[::2], flat[1::2], strict=True))
    return Grant(mode, from_record(record), claim, Fence(int(fence)), json.loads(input_json))


def _finished(reply: list[Any]) -> Finished:
    return Finished(reply[0], None if reply[0] == "fenced" else stamp_in(reply[1]))


def _renewal(reply: list[Any]) -> Renewal:
    if reply[0] == "lost":
        return "lost"
    return "cancel" if reply[1] == "1" else "kept"
