"""What lanes left behind, read from Redis and from the memory store's own files."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from core.ids import LaneId, TaskId, WorkspaceId
from core.keys import LaneKeys
from events.connect import connect
from events.envelope import Envelope
from events.log import EventLog
from jobs.deployment import Deployment


@dataclass(frozen=True, slots=True)
class Step:
    """One event of a lane's log."""

    id: int
    at_ms: int
    type: str
    task: str
    kind: str = "remember"
    status: str = ""
    attempt: int = 0
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit did to one document; ``new`` is its whole text, None when it was removed."""

    root: str
    path: str
    new: str | None


@dataclass(frozen=True, slots=True)
class Commit:
    """One entry of the journal."""

    seq: int
    task: str
    lane: str
    fence: int
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class LaneHistory:
    """All that is known of one lane.

    Attributes:
        accepted: tasks that a client was told are accepted.
        records: task hashes by id.
        lane: the lane hash.
        index, done: members of the sets of all records and of the ended ones.
        commits: journal entries of this lane, in their order.
        stored_fence: the store's fence of this lane.
    """

    workspace: str
    steps: Sequence[Step] = ()
    accepted: Collection[str] = ()
    records: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    lane: Mapping[str, str] = field(default_factory=dict)
    index: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()
    pending: bool = False
    due: bool = False
    wait: bool = False
    commits: Sequence[Commit] = ()
    stored_fence: int = 0

    @property
    def acceptance(self) -> list[str]:
        """Tasks in the order in which they were accepted."""
        return list(dict.fromkeys(step.task for step in self.steps if step.type == "task_queued"))

    @property
    def starts(self) -> list[tuple[str, int]]:
        """Task and attempt of each start, in their order."""
        return [(step.task, step.attempt) for step in self.steps if step.type == "task_running"]

    @property
    def ends(self) -> dict[str, str]:
        """Status by task that ended."""
        return {step.task: step.status for step in self._end_steps}

    @property
    def end_times(self) -> dict[str, int]:
        """Time of the end by task, Redis time."""
        return {step.task: step.at_ms for step in self._end_steps}

    @property
    def codes(self) -> list[str]:
        """Codes of the tasks that did not complete."""
        return [step.code for step in self._end_steps if step.code is not None]

    @property
    def changes_announced(self) -> list[str]:
        """Tasks whose change of memory was announced, once for each announcement."""
        return [step.task for step in self.steps if step.type == "memory_changed"]

    @property
    def _end_steps(self) -> list[Step]:
        return [
            step for step in self.steps if step.type in ("task_completed", "task_failed", "task_cancelled")
        ]

    def touched(self, task: str) -> bool:
        """Whether the task's record says that it changed documents."""
        result: dict[str, Any] = json.loads(self.records.get(task, {}).get("result", "{}"))
        return bool(result.get("filesTouched"))


def step_of(event: Envelope) -> Step:
    """Read an event of the log."""
    facts: dict[str, Any] = json.loads(event.data_json)
    assert event.id is not None
    return Step(
        id=event.id,
        at_ms=event.at_ms,
        type=event.type,
        task=facts["taskId"],
        kind=facts.get("kind", ""),
        status=facts.get("status", ""),
        attempt=facts.get("attempt", 0),
        code=facts.get("code"),
    )


def read_commits(base: Path) -> list[Commit]:
    """The whole journal of a memory base, in its order."""
    return [_commit(entry) for entry in sorted((base / "memlane" / "journal").glob("*.json"))]


def stored_fence(base: Path, lane: LaneId) -> int:
    """Greatest fence that the store ever saw for a lane, 0 before the first."""
    path = base / "memlane" / "fences" / f"{quote(lane, safe='')}.json"
    return int(json.loads(path.read_text())["fence"]) if path.exists() else 0


class Recorder:
    """Keeps the logs of lanes whole: Redis keeps some thousand events a lane, a long test makes more."""

    def __init__(self, redis_url: str, workspaces: Iterable[WorkspaceId]) -> None:
        self._redis: Any = connect(redis_url)  # redis-py can't say that this client answers text
        self._steps: dict[WorkspaceId, list[Step]] = {workspace: [] for workspace in workspaces}

    def record(self) -> None:
        """Read what the logs have more than is known; call it before a log can have lost some.

        Raises:
            StorageUnavailable: Redis gave no answer; nothing is lost by that.
        """
        for workspace in self._steps:
            self.steps(workspace)

    def steps(self, workspace: WorkspaceId) -> list[Step]:
        """A lane's log up to now.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        known = self._steps[workspace]
        while page := EventLog(self._redis).read(workspace, after=known[-1].id if known else 0):
            known += [step_of(event) for event in page]
        return list(known)

    def history(self, workspace: WorkspaceId, base: Path, accepted: Collection[str]) -> LaneHistory:
        """All that is known of a lane.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        keys, redis = LaneKeys(workspace), self._redis
        steps = self.steps(workspace)
        lane = Deployment(redis, configured=None).lane_of(workspace)
        index = redis.zrange(keys.index, 0, -1)
        names = dict.fromkeys([*index, *(step.task for step in steps), *accepted])
        with redis.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.hgetall(keys.task(TaskId(name)))
            records = dict(zip(names, pipe.execute(), strict=True))
        return LaneHistory(
            workspace=workspace,
            steps=steps,
            accepted=accepted,
            records={name: record for name, record in records.items() if record},
            lane=redis.hgetall(keys.lane),
            index=frozenset(index),
            done=frozenset(redis.zrange(keys.done, 0, -1)),
            pending=bool(redis.llen(keys.pending)),
            due=redis.zscore(keys.partition.due, workspace) is not None,
            wait=redis.zscore(keys.partition.wait, workspace) is not None,
            commits=[commit for commit in read_commits(base) if commit.lane == lane],
            stored_fence=stored_fence(base, lane),
        )


def _commit(entry: Path) -> Commit:
    facts: dict[str, Any] = json.loads(entry.read_text())
    changes = tuple(Change(one["root"], one["path"], one["new"]) for one in facts["changes"])
    return Commit(facts["seq"], facts["task"], facts["lane"], facts["fence"], changes)
