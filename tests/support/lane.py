"""A lane of its own for each test, on the shared Redis."""

from dataclasses import dataclass, field
from typing import Any

from core.ids import ClaimId, Kind, TaskId, WorkspaceId, new_task_id, new_uuid
from core.keys import LaneKeys
from events.envelope import Envelope
from events.log import EventLog
from jobs.intake import Accepted, CancelAnswer, Gate, Intake
from jobs.lanes import Finished, Grant, Lanes
from jobs.limits import LaneLimits
from jobs.store import TaskStore
from jobs.tasks import End, Submission, Task
from jobs.upkeep import Upkeep

DONE = End("completed", result={"summary": "Saved.", "filesTouched": [], "touchedScopes": []})


def fresh_workspace_id() -> WorkspaceId:
    return WorkspaceId(new_uuid().replace("-", "")[:16])


def limits(**changes: int) -> LaneLimits:
    facts = {"lease_ms": 8_000, "task_ttl_ms": 60_000, "input_keep_ms": 60_000, "max_attempts": 2}
    return LaneLimits(**(facts | changes))


@dataclass
class LaneUnderTest:
    """Drives one lane; ``limits`` may be replaced."""

    redis: Any  # redis-py can't say that this client answers text
    limits: LaneLimits = field(default_factory=limits)
    workspace: WorkspaceId = field(default_factory=fresh_workspace_id)

    @property
    def lanes(self) -> Lanes:
        return Lanes(self.redis, self.limits)

    @property
    def intake(self) -> Intake:
        return Intake(self.redis, self.limits)

    @property
    def upkeep(self) -> Upkeep:
        return Upkeep(self.redis, self.limits)

    @property
    def keys(self) -> LaneKeys:
        return LaneKeys(self.workspace)

    def submit(
        self,
        content: str = "a fact",
        *,
        task: TaskId | None = None,
        key: str | None = None,
        kind: Kind = "remember",
        gate: Gate = "open",
    ) -> tuple[TaskId, Accepted]:
        task = task or new_task_id(kind)
        submission = Submission(
            kind, {"content": content}, context_mode="workspace", idempotency_keys=(key,) if key else ()
        )
        return task, self.intake.submit(self.workspace, task, submission, gate=gate)

    def cancel(self, task: TaskId) -> CancelAnswer:
        return self.intake.cancel(self.workspace, task)

    def claim(self, *, claim: str | None = None, store_id: str = "store") -> Grant | None:
        return self.lanes.claim(self.workspace, ClaimId(claim or new_uuid()), store_id=store_id)

    def granted(self, **kwargs: str) -> Grant:
        grant = self.claim(**kwargs)
        assert grant is not None
        return grant

    def finish(self, grant: Grant, end: End = DONE) -> Finished:
        return self.lanes.finish_if_current(self.workspace, grant, end)

    def task(self, task: TaskId) -> Task | None:
        return TaskStore(self.redis).find(self.workspace, "remember", task)

    def events(self, after: int = 0) -> list[Envelope]:
        return EventLog(self.redis).read(self.workspace, after=after)

    def expire_lease(self) -> None:
        """Move the fact instead of waiting: the holder's lease has run out."""
        self.redis.hset(self.keys.lane, "expiresAtMs", 1)
        self.redis.zadd(self.keys.partition.due, {self.workspace: 1})

    def sweep(self, *, oldest_doorbell_ms: int | None = None) -> list[int]:
        """Stamps of the rings that one sweep asks for this lane."""
        rings = self.upkeep.sweep(oldest_doorbell_ms=oldest_doorbell_ms).rings
        return [stamp for workspace, stamp in rings if workspace == self.workspace]

    def make_due(self) -> None:
        """Move the fact instead of waiting: the lane is up for the next sweep."""
        self.redis.zadd(self.keys.partition.due, {self.workspace: 1})
