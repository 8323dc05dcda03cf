"""The real lanes as the model's machine drives them: production's own calls, answers in the model's terms."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

import jobs.intake
import jobs.lanes
import jobs.upkeep
from core.errors import InputError, StateError
from core.ids import ClaimId, ClientId, TaskId, WorkspaceId
from core.keys import LaneKeys
from events.log import EventLog
from jobs.errors import IdempotencyConflict, IdempotencyMismatch, MemoryUnavailable, Overloaded, QueueFull
from jobs.intake import Gate, Intake
from jobs.lanes import Grant, Lanes, Lease
from jobs.limits import LaneLimits
from jobs.tasks import End, Fence, Submission
from jobs.upkeep import Upkeep
from tests.support.lane_model import Answer
from tests.support.lane_model_records import Asked, Caps, Ending

DAY_MS = 86_400_000
_REFUSALS: Mapping[type[Exception], str] = {
    QueueFull: "full",
    Overloaded: "overloaded",
    MemoryUnavailable: "closed",
    IdempotencyMismatch: "mismatch",
    IdempotencyConflict: "evicted",
}


@contextmanager
def small_caps(caps: Caps) -> Iterator[None]:
    """Run the body with caps so small that they are reached."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs.intake, "MAX_PENDING", caps.pending)
        patch.setattr(jobs.intake, "MAX_UPKEEP", caps.upkeep)
        for module in (jobs.intake, jobs.lanes, jobs.upkeep):
            patch.setattr(module, "MAX_RECORDS", caps.records)
        yield


@dataclass(frozen=True)
class Holder:
    """Who was granted a run once, and what it would show."""

    workspace: WorkspaceId
    grant: Grant
    store: str

    @property
    def lease(self) -> Lease:
        return Lease(self.workspace, self.grant.claim, self.grant.fence)


class RealLanes:
    """Calls the scripts through the classes that clients, workers and sweepers use."""

    def __init__(self, redis: Any, caps: Caps) -> None:
        self.redis = redis
        self._limits = LaneLimits(
            lease_ms=caps.lease_ms,
            task_ttl_ms=caps.ttl_ms,
            input_keep_ms=caps.input_keep_ms,
            max_attempts=caps.attempts,
        )
        self._caps = caps
        self._intake = Intake(redis, self._limits)
        self._lanes = Lanes(redis, self._limits)
        # a lease longer than the server's life: every expired lease is within its grace
        self._patient = Lanes(redis, LaneLimits(DAY_MS, caps.ttl_ms, caps.input_keep_ms, caps.attempts))
        self._upkeep = Upkeep(redis, self._limits)
        self.log = EventLog(redis)

    def submit(self, workspace: WorkspaceId, asked: Asked, gate: Gate) -> Answer:
        submission = Submission(
            asked.kind,
            {"content": asked.text},
            client_id=ClientId(asked.client) if asked.client else None,
            idempotency_keys=(asked.key,) if asked.key else (),
        )
        try:
            accepted = self._intake.submit(workspace, TaskId(asked.task), submission, gate=gate)
        except (InputError, StateError) as refusal:
            return (_REFUSALS[type(refusal)],)
        if not accepted.fresh:
            return ("dup", accepted.task)
        return ("ok", accepted.position, accepted.doorbell_ms, accepted.accepted_ms)

    def cancel(self, workspace: WorkspaceId, task: str) -> Answer:
        return self._intake.cancel(workspace, TaskId(task))

    def claim(self, workspace: WorkspaceId, claim: str, store: str, *, patient: bool) -> Grant | None:
        lanes = self._patient if patient else self._lanes
        return lanes.claim(workspace, ClaimId(claim), store_id=store)

    def renew(self, holder: Holder) -> Answer:
        return self._lanes.renew([holder.lease])[0]

    def refence(self, holder: Holder, at_least: int) -> Fence | None:
        return self._lanes.refence(holder.lease, at_least=at_least)

    def finish(self, holder: Holder, ending: Ending) -> Answer:
        finished = self._lanes.finish_if_current(holder.workspace, holder.grant, _end(holder, ending))
        return (finished.answer, finished.doorbell_ms)

    def finish_and_claim(self, holder: Holder, ending: Ending, claim: str) -> tuple[Answer, Grant | None]:
        finished, grant = self._lanes.finish_and_claim(
            holder.workspace,
            holder.grant,
            _end(holder, ending),
            claim=ClaimId(claim),
            store_id=holder.store,
        )
        return (finished.answer, finished.doorbell_ms, terms(grant)), grant

    def hold(self, workspace: WorkspaceId) -> Answer:
        self._upkeep.hold(workspace)

    def unhold(self, workspace: WorkspaceId) -> Answer:
        return self._upkeep.unhold(workspace)

    def drop(self, workspace: WorkspaceId) -> Answer:
        return self._upkeep.drop_workspace(workspace)

    def sweep(self, oldest_ms: int | None) -> Answer:
        swept = self._upkeep.sweep(oldest_doorbell_ms=oldest_ms)
        return (tuple(sorted(swept.rings)), swept.waiting, swept.oldest_wait_ms)

    def expire_owner(self, owner: str) -> Answer:
        return self._upkeep.expire_owner(owner)

    def pass_time(self, workspace: WorkspaceId, tasks: list[str], ms: int) -> Answer:
        """Move all that Redis has noted ``ms`` back, and let go what Redis would let go by then."""
        keys = LaneKeys(workspace)
        self._move_score(keys.partition.due, workspace, ms)
        for moment in ("doorbellAtMs", "expiresAtMs", "leasedAtMs"):
            self._move_field(keys.lane, moment, ms)
        for task in tasks:
            self._move_field(keys.task(TaskId(task)), "releasedSinceMs", ms)
            self._move_score(keys.done, task, ms)
        seconds, micros = self.redis.time()
        now_ms = seconds * 1000 + micros // 1000
        for task, ended_ms in self.redis.zrange(keys.done, 0, -1, withscores=True):
            if ended_ms + self._caps.ttl_ms <= now_ms:
                self.redis.delete(keys.task(task))
            if ended_ms + self._caps.input_keep_ms <= now_ms:
                self.redis.delete(keys.input(task))

    def make_due(self, workspace: WorkspaceId) -> Answer:
        """Have the next sweep look at the lane, whatever it finds there."""
        self.redis.zadd(LaneKeys(workspace).partition.due, {workspace: 1})

    def forget_key(self, workspace: WorkspaceId, key: str) -> Answer:
        """The day after."""
        self.redis.delete(LaneKeys(workspace).idempotency(key))

    def _move_field(self, key: str, name: str, ms: int) -> None:
        if int(self.redis.hget(key, name) or 0) > 0:
            self.redis.hincrby(key, name, -ms)

    def _move_score(self, key: str, member: str, ms: int) -> None:
        self.redis.zadd(key, {member: -ms}, xx=True, incr=True)


def _end(holder: Holder, ending: Ending) -> End:
    changed = {"taskId": holder.grant.task.id} if ending.changed else None
    result = {"summary": "Done.", "filesTouched": []} if ending.status == "completed" else None
    return End(ending.status, code=ending.code, result=result, memory_changed=changed, cause=ending.cause)


def terms(grant: Grant | None) -> Answer:
    """A grant as the model says it."""
    if grant is None:
        return None
    task = grant.task
    return (
        grant.mode,
        task.id,
        int(grant.fence),
        task.attempt,
        task.cancel_requested,
        grant.input["content"],
    )
