"""A lane of its own for each test, on the shared Redis."""

from dataclasses import dataclass, field
from typing import Any

from core.ids import ClaimId, TaskId, WorkspaceId, new_task_id, new_uuid
from core.keys import LaneKeys
from events.envelope import Envelope
from events.log import EventLog
from jobs.lanes import Accepted, Finished, Grant, LaneLimits, Lanes
from jobs.store import TaskStore
from jobs.tasks import End, Submission, Task

DONE = End("completed", result={"summary": "Saved.", "filesTouched": [], "touchedScopes": []})


def fresh_workspace_id() -> WorkspaceId:
    return WorkspaceId(new_uuid().replace("-", "")[:16])


def limits(**changes: int) -> LaneLimits:
    facts = {"lease_ms": 8_000, "task_ttl_ms": 60_000, "input_keep_ms": 60_000, "max_attempts": 2}
    return LaneLimits(**(facts | changes))


@dataclass
class LaneUnderTest:
    """Drives one lane; ``lanes`` may be replaced to change limits."""

    redis: Any  # redis-py can't say that this client answers text
    lanes: Lanes
    workspace: WorkspaceId = field(default_factory=fresh_workspace_id)

    @property
    def keys(self) -> LaneKeys:
        return LaneKeys(self.workspace)

    def submit(self, content: str = "a fact", *, task: TaskId | None = None) -> tuple[TaskId, Accepted]:
        task = task or new_task_id("remember")
        submission = Submission("remember", {"content": content}, context_mode="workspace")
        return task, self.lanes.submit(self.workspace, task, submission)

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

    def sweep(self) -> list[int]:
        """Stamps of the rings that one sweep asks for this lane."""
        rings = self.lanes.sweep([self.keys.partition.number])
        return [stamp for workspace, stamp in rings if workspace == self.workspace]
