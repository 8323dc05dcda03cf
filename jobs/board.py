"""What operators see of lanes and workers, and what they do to lanes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from core.ids import TaskId, WorkspaceId
from core.keys import PARTITIONS, LaneKeys, PartitionKeys, worker
from events.connect import storage_errors
from jobs.broker import Doorbell
from jobs.registry import WorkerRegistry
from jobs.upkeep import Upkeep

if TYPE_CHECKING:
    import redis

_LANE_FIELDS = ("running", "runningKind", "claim", "leasedAtMs", "expiresAtMs", "hold")
_State = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class RunningTask:
    """The task that runs in a lane.

    Attributes:
        attempt: how many runs it has had, this one included.
    """

    id: TaskId
    kind: str
    attempt: int


@dataclass(frozen=True, slots=True)
class LaneLease:
    """Who is at a lane.

    Attributes:
        owner: id of the worker.
        since_ms, expires_ms: milliseconds of the server's clock; it is renewed long before it ends.
    """

    owner: str
    since_ms: int
    expires_ms: int


@dataclass(frozen=True, slots=True)
class LaneView:
    """How a lane stands.

    Attributes:
        depth: tasks that are queued.
        oldest_age_ms: for how long the head of the queue has been accepted; None when nothing is queued.
        is_held: whether no further task is started there.
    """

    workspace: WorkspaceId
    depth: int
    oldest_age_ms: int | None
    running: RunningTask | None
    lease: LaneLease | None
    is_held: bool


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker that lives, as it announced itself.

    Attributes:
        expires_ms: when it is forgotten unless it announces itself again, milliseconds since the epoch.
    """

    id: str
    host: str
    pid: int
    threads: int
    model: str
    deployment: str
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Load:
    """What all lanes came to.

    Attributes:
        counters: by name, see docs/operations.md.
        waiting, oldest_wait_ms: lanes that wait for a worker, as the last sweep saw it.
    """

    counters: Mapping[str, int]
    waiting: int
    oldest_wait_ms: int


class Board:
    """Lanes and workers from an operator's point of view."""

    def __init__(self, client: "redis.Redis", upkeep: Upkeep, doorbell: Doorbell) -> None:
        self._redis = client
        self._upkeep = upkeep
        self._doorbell = doorbell
        self._registry = WorkerRegistry(client)

    def lanes(self, workspaces: Sequence[WorkspaceId]) -> list[LaneView]:
        """Show how the lanes of these workspaces stand, in their order.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            pipe.time()
            for workspace in workspaces:
                keys = LaneKeys(workspace)
                pipe.hmget(keys.lane, _LANE_FIELDS)
                pipe.lrange(keys.pending, 0, -1)
            (seconds, micros), *answers = pipe.execute()
        states = [dict(zip(_LANE_FIELDS, values, strict=True)) for values in answers[::2]]
        now_ms = int(seconds) * 1000 + int(micros) // 1000
        return [
            _view(workspace, state, queue=queue, attempt=attempt, now_ms=now_ms)
            for workspace, state, queue, attempt in zip(
                workspaces, states, answers[1::2], self._attempts(workspaces, states), strict=True
            )
        ]

    def hold(self, workspace: WorkspaceId) -> LaneView:
        """Let a lane start no further task until it is let go; what runs goes on, and tasks are accepted.

        Raises:
            StorageUnavailable: no answer; repeat.
        """
        self._upkeep.hold(workspace)
        return self.lanes([workspace])[0]

    def unhold(self, workspace: WorkspaceId) -> LaneView:
        """Let a lane go on.

        Raises:
            StorageUnavailable: no answer; repeat.
        """
        stamp_ms = self._upkeep.unhold(workspace)
        if stamp_ms is not None:
            self._doorbell.ring(workspace, stamp_ms)
        return self.lanes([workspace])[0]

    def workers(self) -> list[WorkerView]:
        """Show the workers that live, by id.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        ids = sorted(self._registry.live_ids())
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            for worker_id in ids:
                pipe.hgetall(worker(worker_id))
            rows = pipe.execute()
        return [_worker(one, row) for one, row in zip(ids, rows, strict=True) if row]

    def load(self) -> Load:
        """Add up what has happened since the counters were made.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            for number in range(PARTITIONS):
                pipe.hgetall(PartitionKeys(number).stats)
            rows = cast("list[dict[str, str]]", pipe.execute())
        counters: Counter[str] = Counter()
        for row in rows:
            counters.update({name: int(count) for name, count in row.items()})
        return Load(dict(sorted(counters.items())), *self._registry.load())

    def _attempts(self, workspaces: Sequence[WorkspaceId], states: Sequence[_State]) -> list[int]:
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            for workspace, state in zip(workspaces, states, strict=True):
                pipe.hget(LaneKeys(workspace).task(TaskId(state["running"] or "")), "attempt")
            return [int(attempt or 0) for attempt in pipe.execute()]


def _view(
    workspace: WorkspaceId, state: _State, *, queue: Sequence[str], attempt: int, now_ms: int
) -> LaneView:
    head_ms = int(queue[0].split(":")[1]) if queue else None
    return LaneView(
        workspace,
        depth=len(queue),
        oldest_age_ms=None if head_ms is None else max(now_ms - head_ms, 0),
        running=_running(state, attempt),
        lease=_lease(state),
        is_held=state["hold"] == "1",
    )


def _running(state: _State, attempt: int) -> RunningTask | None:
    task = state["running"]
    return RunningTask(TaskId(task), state["runningKind"] or "", attempt) if task else None


def _lease(state: _State) -> LaneLease | None:
    claim = state["claim"]
    if not claim:
        return None
    return LaneLease(claim.rsplit(":", 1)[0], int(state["leasedAtMs"] or 0), int(state["expiresAtMs"] or 0))


def _worker(worker_id: str, row: Mapping[str, Any]) -> WorkerView:
    return WorkerView(
        id=worker_id,
        host=row.get("host", ""),
        pid=int(row.get("pid", 0)),
        threads=int(row.get("threads", 0)),
        model=row.get("model", ""),
        deployment=row.get("deployment", ""),
        expires_ms=int(row["expiresAtMs"]),
    )
