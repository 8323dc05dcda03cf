"""What Redis holds of some lanes, and where that differs from what the model says."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.clock import rfc3339
from core.ids import TaskId, WorkspaceId
from core.keys import SCHEMA, LaneKeys
from events.envelope import Envelope, from_entry
from tests.support.lane_model import ModelLane
from tests.support.lane_model_moments import Span, agrees
from tests.support.lane_model_records import ModelTask

_ALWAYS_ALLOWED = (":lane", ":events", ":due", ":wait", ":stats")

IDLE_LANE_MS = 30 * 86_400_000


@dataclass
class LaneSeen:
    """One lane as Redis holds it; ``events`` are the new ones."""

    lane: dict[str, str]
    lane_life_ms: int
    pending: list[str]
    index: list[tuple[str, float]]
    done: dict[str, int]
    due_ms: int | None
    wait_ms: int | None
    events: list[Envelope]
    records: dict[str, dict[str, str]] = field(default_factory=dict)
    lives_ms: dict[str, int] = field(default_factory=dict)


@dataclass
class Seen:
    """Everything, at one moment."""

    now_ms: int
    keys: set[str]
    stats: dict[str, dict[str, str]]
    lanes: dict[WorkspaceId, LaneSeen]

    @property
    def record_keys(self) -> set[str]:
        """Those whose being there says something: no empty list, no record too many."""
        return {key for key in self.keys if not key.endswith(_ALWAYS_ALLOWED)}


def look(
    redis: Any, tasks: Mapping[WorkspaceId, Sequence[str]], last_events: Mapping[WorkspaceId, int]
) -> Seen:
    """Read all that the scripts keep of these lanes in one round trip; of the events those after the last."""
    with redis.pipeline(transaction=False) as pipe:
        for workspace, ids in tasks.items():
            _ask(pipe, LaneKeys(workspace), ids, last_events[workspace])
        partitions = sorted({LaneKeys(workspace).partition.stats for workspace in tasks})
        for stats in partitions:
            pipe.hgetall(stats)
        pipe.keys(f"{SCHEMA}:*")
        pipe.time()
        replies = iter(pipe.execute())
    seen = {workspace: _lane_seen(replies, ids) for workspace, ids in tasks.items()}
    stats_seen = {stats: next(replies) for stats in partitions}
    keys, (seconds, micros) = next(replies), next(replies)
    return Seen(seconds * 1000 + micros // 1000, set(keys), stats_seen, seen)


def _ask(pipe: Any, keys: LaneKeys, tasks: Sequence[str], last_event: int) -> None:
    pipe.hgetall(keys.lane)
    pipe.pttl(keys.lane)
    pipe.lrange(keys.pending, 0, -1)
    pipe.zrange(keys.index, 0, -1, withscores=True)
    pipe.zrange(keys.done, 0, -1, withscores=True)
    pipe.zscore(keys.partition.due, keys.workspace)
    pipe.zscore(keys.partition.wait, keys.workspace)
    pipe.xrange(keys.events, min=f"({last_event}-0")
    for task in tasks:
        pipe.hgetall(keys.task(TaskId(task)))
        pipe.pttl(keys.task(TaskId(task)))


def _lane_seen(replies: Iterator[Any], tasks: Sequence[str]) -> LaneSeen:
    hash_, life_ms, pending, index, done, due, wait, entries = (next(replies) for _ in range(8))
    seen = LaneSeen(
        lane=hash_,
        lane_life_ms=life_ms,
        pending=pending,
        index=[tuple(row) for row in index],
        done={task: int(score) for task, score in done},
        due_ms=None if due is None else int(due),
        wait_ms=None if wait is None else int(wait),
        events=[from_entry(entry_id, fields) for entry_id, fields in entries],
    )
    for task in tasks:
        seen.records[task] = next(replies)
        seen.lives_ms[task] = next(replies)
    return seen


Fact = tuple[str, object, object]  # name, expected, seen


def facts(lane: ModelLane, seen: LaneSeen, last_event: int) -> Iterator[Fact]:
    """All that the model says of a lane, beside what Redis holds."""
    yield from _lane_facts(lane, seen)
    for task in lane.tasks.values():
        for name, expected, found in _task_facts(task, seen, lane.caps.ttl_ms):
            yield f"{task.id} {name}", expected, found
    yield "events", tuple(lane.events), tuple(_shown(event) for event in seen.events)
    ids = [event.id for event in seen.events]
    yield "event ids", list(range(last_event + 1, last_event + 1 + len(ids))), ids


def differences(found: Iterable[Fact]) -> list[str]:
    """Where expected and seen differ, in words."""
    return [f"{name}: expected {due}, found {seen}" for name, due, seen in found if not agrees(due, seen)]


def adopt(lane: ModelLane, seen: LaneSeen) -> None:
    """Replace the model's spans by the moments that Redis holds, which lie in them."""
    lane.due_ms = seen.due_ms
    lane.wait_ms = seen.wait_ms
    lane.doorbell_ms = int(seen.lane.get("doorbellAtMs", 0)) or None
    lane.fence = int(seen.lane.get("fence", 0))
    lane.lease_end_ms = int(seen.lane.get("expiresAtMs", 0))
    lane.events.clear()
    for task in lane.tasks.values():
        record = seen.records[task.id]
        task.ended_ms = seen.done.get(task.id)
        if record:
            task.accepted_ms = int(record["acceptedMs"])
            task.released_since_ms = int(record.get("releasedSinceMs", 0))
            task.finishing_fence = int(record.get("finishingFence", 0)) or None
            task.touched_ms = _ms(record["updatedAt"])
            task.started_ms = _ms(record["startedAt"]) if "startedAt" in record else None


def expected_keys(lane: ModelLane) -> set[str]:
    """Names of all keys that a lane may hold, but for the lane hash itself and the stream."""
    keys = LaneKeys(lane.workspace)
    tasks = lane.tasks.values()
    lists = {keys.pending: lane.pending, keys.index: lane.tasks, keys.done: [t for t in tasks if t.ended_ms]}
    return {
        *(name for name, content in lists.items() if content),
        *(keys.task(TaskId(task.id)) for task in tasks if not task.forgotten),
        *(keys.input(TaskId(task.id)) for task in tasks if not task.input_forgotten),
        *(keys.idempotency(key) for key in lane.keys),
    }


def _lane_facts(lane: ModelLane, seen: LaneSeen) -> Iterator[Fact]:
    hash_ = seen.lane
    yield "pending", _elements(lane), tuple(_element_seen(text) for text in seen.pending)
    yield "index", [(task.id, task.seq) for task in _by_seq(lane)], seen.index
    yield "done", {task.id for task in lane.tasks.values() if task.ended_ms is not None}, set(seen.done)
    yield "due", lane.due_ms, seen.due_ms
    yield "wait", lane.wait_ms, seen.wait_ms
    yield "running", lane.running or "", hash_.get("running", "")
    yield "seq", lane.seq, int(hash_.get("seq", 0))
    yield "fence", lane.fence, int(hash_.get("fence", 0))
    yield "hold", lane.held, hash_.get("hold") == "1"
    yield "store", lane.store, hash_.get("storeId")
    yield "doorbell", lane.doorbell_ms, int(hash_.get("doorbellAtMs", 0)) or None
    if lane.running:
        yield "claim", lane.claim_id, hash_.get("claim")
        yield "lease end", lane.lease_end_ms, int(hash_.get("expiresAtMs", 0))
    if lane.has_work or lane.held:
        yield "life of a lane that is to be kept", -1, seen.lane_life_ms
    elif lane.seq:
        yield "life of an idle lane", Span(1, IDLE_LANE_MS), seen.lane_life_ms


def _task_facts(task: ModelTask, seen: LaneSeen, ttl_ms: int) -> Iterator[Fact]:
    record = seen.records[task.id]
    if task.forgotten:
        yield "record", {}, record
        return
    yield "status", task.status, record.get("status")
    yield "kind", task.asked.kind, record.get("kind")
    yield "client", task.asked.client, record.get("clientId")
    yield "attempt", str(task.attempt), record.get("attempt")
    yield "code", task.code, record.get("errorCode")
    yield "cancel requested", task.cancel_requested, record.get("cancelRequested") == "1"
    yield "finishing fence", task.finishing_fence, int(record.get("finishingFence", 0)) or None
    yield "outcome", None if task.ended_ms is None else task.status, record.get("outcome")
    yield "accepted", task.accepted_ms, int(record.get("acceptedMs", 0))
    yield "created", rfc3339(int(record.get("acceptedMs", 0))), record.get("createdAt")
    yield "updated", task.touched_ms, _ms(record.get("updatedAt", "1970-01-01T00:00:00.000Z"))
    yield "first start", task.started_ms, _ms(record["startedAt"]) if "startedAt" in record else None
    yield "finished", task.ended_ms is not None, "finishedAt" in record
    life = -1 if task.ended_ms is None else Span(1, ttl_ms)
    yield "life", life, seen.lives_ms[task.id]
    if task.ended_ms is not None:
        yield "ended", task.ended_ms, seen.done.get(task.id)


def _by_seq(lane: ModelLane) -> list[ModelTask]:
    return sorted(lane.tasks.values(), key=lambda task: task.seq)


def _elements(lane: ModelLane) -> tuple[Any, ...]:
    tasks = [lane.tasks[task] for task in lane.pending]
    return tuple((task.asked.kind, task.accepted_ms, task.id) for task in tasks)


def _element_seen(text: str) -> tuple[str, int, str]:
    kind, accepted, task = text.split(":", 2)
    return kind, int(accepted), task


def _shown(event: Envelope) -> tuple[str, Any, str | None]:
    return event.type, json.loads(event.data_json), event.originator


def _ms(stamp: str) -> int:
    return round(datetime.fromisoformat(stamp).timestamp() * 1000)
