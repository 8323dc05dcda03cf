"""What lanes must do, written from the design's tables (lane states, contracts, caps): a model without Redis.

The model is told when a script ran only within bounds, so every time in it is either exact, as read back from
Redis, or a span that the next look must fall into.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.ids import Kind, WorkspaceId
from jobs.intake import Gate
from jobs.tasks import Cause
from tests.support.lane_model_moments import UNSAID, Moment, Span, passed
from tests.support.lane_model_records import CANCELLED, Asked, Caps, Ending, ModelTask

DOORBELL_MS = 5_000
LEASE_SLACK_MS = 200
HELD_LOOK_MS = 30_000
LONGEST_BACKOFF_MS = 30_000
DOORBELL_GIVEN_UP_MS = 120_000
FREE_RELEASES = 5
RELEASE_WINDOW_MS = 600_000

Answer = Any  # a tuple, a word, a number or None; spans stand for numbers that follow from the time
Event = tuple[str, Mapping[str, Any], str | None]


@dataclass
class ModelLane:
    """One lane and its records.

    Attributes:
        lease_end_ms, claim, fence: of the running task.
        counted: the claim that runs counted as an attempt.
        proven_dead: a proof ended the lease, so that nobody waits out a grace.
        doorbell_ms: stamp of the doorbell that is out; None when none is.
        wait_ms: since when it waits for a worker.
        paused: handed back for a cause: no doorbell is out and none is wanted before ``due_ms``.
        events: what the last step must have appended.
    """

    workspace: WorkspaceId
    caps: Caps
    stats: Counter[str]
    seq: int = 0
    tasks: dict[str, ModelTask] = field(default_factory=dict)
    keys: dict[str, tuple[str, tuple[Kind, str]]] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)
    running: str | None = None
    claim_id: str | None = None
    fence: Moment = 0
    lease_end_ms: Moment = 0
    counted: bool = False
    proven_dead: bool = False
    store: str | None = None
    held: bool = False
    doorbell_ms: Moment | None = None
    rings: int = 0
    paused: bool = False
    due_ms: Moment | None = None
    wait_ms: Moment | None = None
    events: list[Event] = field(default_factory=list)

    def submit(self, asked: Asked, gate: Gate, now: Span) -> Answer:
        """Accept a task once, within the caps and what the gate lets in."""
        if self.record(asked.task):
            return ("dup", asked.task)
        if asked.key in self.keys:
            return self._keyed(asked)
        refusal = self._refusal(asked.kind, gate)
        if refusal:
            return (refusal,)
        self.seq += 1
        self.tasks[asked.task] = ModelTask(asked, self.seq, now, now)
        awaited = self.has_work
        self.pending.append(asked.task)
        if asked.key:
            self.keys[asked.key] = (asked.task, (asked.kind, asked.text))
        self.stats[f"accepted:{asked.kind}"] += 1
        self._purge(now)
        position = len(self.pending)
        self._tell(asked.task, "queued", status="queued", position=position)
        return ("ok", position, None if awaited else self._settle(now), now)

    def cancel(self, task_id: str, now: Span) -> Answer:
        """End at once what never ran; have all else stopped, or resolved first."""
        task = self.record(task_id)
        if task is None:
            return "gone"
        if task.ended_ms is not None:
            return "terminal"
        if task.status == "queued" and task.attempt == 0 and not task.handed_back:
            self.pending.remove(task_id)
            self._end(task, CANCELLED, now)
            if not self.running and not self.pending:
                self._settle(now)
            return "cancelled"
        task.cancel_requested = True
        task.touched_ms = now
        return "cancelling"

    def claim(self, claim: str, store: str, *, lease_ms: int, graced: bool, now: Span) -> Answer:
        """Take the lane if it is free; ``graced``: Redis is younger than a lease."""
        if self.store not in (None, store):
            self.due_ms = UNSAID if self.has_work else None
            self.wait_ms = None
            return None
        if self.running:
            return self._claim_of_running(claim, store, lease_ms=lease_ms, graced=graced, now=now)
        if self.held:
            self.due_ms = now + HELD_LOOK_MS if self.pending else UNSAID
            return None
        if not self.pending:
            self._rest()
            return None
        self.running = self.pending.pop(0)
        return self._take(claim, store, now + lease_ms, now)

    def renew(self, claim: str, fence: int, now: Span) -> Answer:
        """Extend the holder's lease, lapsed or not."""
        if not self._is_holder(claim, fence):
            return "lost"
        self.proven_dead = False
        self.lease_end_ms = now + self.caps.lease_ms
        self.due_ms = self.lease_end_ms + LEASE_SLACK_MS
        return "cancel" if self.tasks[self.running or ""].cancel_requested else "kept"

    def refence(self, claim: str, fence: int, at_least: int, now: Span) -> Answer:
        """Give the holder a greater fence."""
        if not self._is_holder(claim, fence):
            return None
        self.fence = self._next_fence(now).at_least(at_least)
        return self.fence

    def finish(self, task_id: str, claim: str, fence: int, ending: Ending, *, now: Span) -> Answer:
        """Write the holder's end once; nobody else's."""
        task = self.record(task_id)
        if task is None or self.running != task_id or not self._is_holder(claim, fence):
            # a repeat passes on the doorbell that is out: its first reply may have been lost
            known = task is not None and task.finishing_fence == fence
            return ("already", self.doorbell_ms) if known else ("fenced", None)
        task.finishing_fence = fence
        self.running = self.claim_id = None
        if ending.status == "queued":
            return ("ok", self._hand_back(task, ending.cause, now))
        self._end(task, ending, now)
        if ending.changed:
            self.events.append(("memory_changed", {"taskId": task_id}, task.asked.client))
        return ("ok", self._settle(now))

    def hold(self, now: Span) -> Answer:
        """Start nothing more."""
        self.held = True
        if not self.running:
            self._settle(now)

    def unhold(self, now: Span) -> Answer:
        """Go on."""
        self.held = False
        return None if self.running else self._settle(now)

    def drop(self, now: Span) -> Answer:
        """End all that is queued; delete everything unless a task runs."""
        self.held = True
        self.wait_ms = None
        for task in [self.tasks[task_id] for task_id in self.pending]:
            if task.attempt or task.handed_back:
                task.cancel_requested = True
            else:
                self.pending.remove(task.id)
                self._end(task, CANCELLED, now)
        if self.running:
            self.tasks[self.running].cancel_requested = True
            return False
        if self.pending:
            self.held = False
            self._forget_doorbell()
            self.due_ms = self.wait_ms = now
            return False
        vars(self).update(vars(ModelLane(self.workspace, self.caps, self.stats)))
        return True

    def sweep(self, oldest_ms: int | None, now: Span) -> Answer:
        """The stamp to ring with, if the lane's time has come and nobody is on the way."""
        if self.due_ms is None or not passed(self.due_ms, now):
            return None
        if self.running:
            if passed(self.lease_end_ms, now):
                return self._ring(now)
            self.due_ms = self.lease_end_ms + LEASE_SLACK_MS
        elif not self.pending:
            self.due_ms = UNSAID if self.held else None
        elif self.held:
            self.due_ms = now + HELD_LOOK_MS
        elif self._is_in_broker(oldest_ms, now):
            self.due_ms = now + DOORBELL_MS
        else:
            return self._ring(now)
        return None

    def expire_owner(self, owner: str, now: Span) -> Answer:
        """End the lease if its holder is the dead worker."""
        if not self.running or not (self.claim_id or "").startswith(f"{owner}:"):
            return 0
        if self.proven_dead:
            return 0
        self.lease_end_ms = self.due_ms = now
        self.proven_dead = True
        return 1

    def pass_time(self, ms: int, now: Span) -> None:
        """Let all that was noted lie ``ms`` further back."""
        if self.due_ms is not None:
            self.due_ms += -ms
        if self.doorbell_ms is not None:
            self.doorbell_ms += -ms
        self.lease_end_ms += -ms
        for task in self.tasks.values():
            task.released_since_ms += -ms
            if task.ended_ms is not None:
                task.ended_ms += -ms
                task.forgotten = passed(task.ended_ms + self.caps.ttl_ms, now)
                task.input_forgotten = passed(task.ended_ms + self.caps.input_keep_ms, now)

    def make_due(self) -> None:
        """Be looked at by the next sweep."""
        self.due_ms = 1

    def forget_key(self, key: str) -> None:
        """Let the life of an idempotency key be over."""
        del self.keys[key]

    @property
    def has_work(self) -> bool:
        """Whether there is anything to do in the lane."""
        return bool(self.pending or self.running)

    def record(self, task_id: str) -> ModelTask | None:
        """The record a client would find."""
        task = self.tasks.get(task_id)
        return None if task is None or task.forgotten else task

    def _keyed(self, asked: Asked) -> Answer:
        first, request = self.keys[asked.key or ""]
        if request != (asked.kind, asked.text):
            return ("mismatch",)
        return ("dup", first) if self.record(first) else ("evicted",)

    def _refusal(self, kind: Kind, gate: Gate) -> str | None:
        unfinished = [self.tasks[task] for task in (*self.pending, self.running) if task]
        upkeep = sum(task.asked.kind != "remember" for task in unfinished)
        if gate == "closed":
            return "closed"
        if len(unfinished) >= self.caps.pending or (kind != "remember" and upkeep >= self.caps.upkeep):
            self.stats[f"refused:{kind}"] += 1
            return "full"
        if gate == "busy" and not unfinished:
            self.stats[f"overloaded:{kind}"] += 1
            return "overloaded"
        return None

    def _claim_of_running(self, claim: str, store: str, *, lease_ms: int, graced: bool, now: Span) -> Answer:
        if self.claim_id == claim:
            return self._grant()
        if not passed(self.lease_end_ms, now):
            self.due_ms = self.lease_end_ms + LEASE_SLACK_MS
            return None
        if graced and not self.proven_dead:
            self.due_ms = now + LEASE_SLACK_MS
            return None
        return self._take(claim, store, now + lease_ms, now)

    def _take(self, claim: str, store: str, lease_end_ms: Span, now: Span) -> Answer:
        task = self.tasks[self.running or ""]
        self.claim_id, self.store = claim, store
        self.fence, self.lease_end_ms = self._next_fence(now), lease_end_ms
        self.due_ms = lease_end_ms + LEASE_SLACK_MS
        self.wait_ms = None
        self._forget_doorbell()
        self.proven_dead = False
        self.counted = task.attempt < self.caps.attempts and not task.cancel_requested
        task.status = "running"
        if self.counted:
            task.attempt += 1
            task.started_ms = now if task.started_ms is None else task.started_ms
            task.touched_ms = now
            self._tell(task.id, "running", status="running", attempt=task.attempt)
        return self._grant()

    def _grant(self) -> Answer:
        task = self.tasks[self.running or ""]
        mode = "run" if self.counted else "resolve"
        return (mode, task.id, self.fence, task.attempt, task.cancel_requested, task.asked.text)

    def _hand_back(self, task: ModelTask, cause: Cause | None, now: Span) -> Moment | None:
        counts = cause is not None and self._release(task, cause, now) > FREE_RELEASES
        if self.counted and not counts:
            task.attempt -= 1
        task.status = "queued"
        task.handed_back = True
        task.touched_ms = now
        self.pending.insert(0, task.id)
        self._tell(task.id, "queued", status="queued", position=1)
        doorbell = self._settle(now)
        if cause is None or doorbell is None:
            return doorbell
        self._forget_doorbell()
        self.paused = True
        self.due_ms = now + min(LONGEST_BACKOFF_MS, 1000 * 2 ** (task.releases - 1))
        return None

    def _release(self, task: ModelTask, cause: Cause, now: Span) -> int:
        if task.cause != cause or passed(task.released_since_ms + RELEASE_WINDOW_MS, now):
            task.releases = 0
            task.released_since_ms = now
        task.cause = cause
        task.releases += 1
        return task.releases

    def _end(self, task: ModelTask, ending: Ending, now: Span) -> None:
        assert task.ended_ms is None, "an end happens once"
        assert ending.status != "queued"
        task.status, task.code = ending.status, ending.code
        task.ended_ms = task.touched_ms = now
        self.stats[f"ended:{task.asked.kind}:{ending.code or ending.status}"] += 1
        code = {"code": ending.code} if ending.code else {}
        facts = {"status": ending.status, "outcome": ending.status, "attempt": task.attempt, **code}
        self._tell(task.id, ending.status, **facts)
        self._purge(now)

    def _purge(self, now: Span) -> None:
        """Records past their life go; then the first ended ones over the cap."""
        ended = [task for task in self.tasks.values() if task.ended_ms is not None]
        for task in ended:
            if isinstance(task.ended_ms, int) and passed(task.ended_ms + self.caps.ttl_ms, now):
                del self.tasks[task.id]
        kept = [(task.ended_ms, task.id) for task in ended if isinstance(task.ended_ms, int)]
        oldest = [task_id for _, task_id in sorted(kept) if task_id in self.tasks]
        for task_id in oldest[: max(0, len(self.tasks) - self.caps.records)]:
            del self.tasks[task_id]

    def _settle(self, now: Span) -> Moment | None:
        """Nothing runs: rest, wait for the hold to end, or ask for a doorbell."""
        if not self.pending:
            self._rest()
            return None
        self._forget_doorbell()
        if self.held:
            self.due_ms = now + HELD_LOOK_MS
            self.wait_ms = None
            return None
        self.wait_ms = now if self.wait_ms is None else self.wait_ms
        self.doorbell_ms, self.rings = now, 1
        self.due_ms = now + DOORBELL_MS
        return now

    def _rest(self) -> None:
        self._forget_doorbell()
        self.due_ms = self.wait_ms = None

    def _forget_doorbell(self) -> None:
        self.doorbell_ms, self.rings, self.paused = None, 0, False

    def _ring(self, now: Span) -> Span:
        self.due_ms = now + min(LONGEST_BACKOFF_MS, DOORBELL_MS * 2**self.rings)
        self.doorbell_ms, self.paused = now, False
        self.rings += 1
        return now

    def _is_in_broker(self, oldest_ms: int | None, now: Span) -> bool:
        if self.paused or not isinstance(self.doorbell_ms, int) or not oldest_ms:
            return False
        return self.doorbell_ms >= oldest_ms and not passed(self.doorbell_ms + DOORBELL_GIVEN_UP_MS, now)

    def _next_fence(self, now: Span) -> Span:
        assert isinstance(self.fence, int)
        return now.at_least(self.fence + 1)

    def _is_holder(self, claim: str, fence: int) -> bool:
        return self.running is not None and (self.claim_id, self.fence) == (claim, fence)

    def _tell(self, task_id: str, what: str, **facts: Any) -> None:
        asked = self.tasks[task_id].asked
        self.events.append((f"task_{what}", {"taskId": task_id, "kind": asked.kind, **facts}, asked.client))
