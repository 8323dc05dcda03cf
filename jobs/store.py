"""Reading task records; only the scripts write them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from core.ids import Kind, TaskId, WorkspaceId, is_task_id
from core.keys import LaneKeys
from events.connect import storage_errors
from jobs.tasks import STATUSES, Status, Task, TaskOutline, from_record, outline_of
from jobs.viewer import ANYBODY, Viewer

if TYPE_CHECKING:
    import redis


MAX_PAGE = 200

_LISTED_FIELDS = (  # all but the result, which may be long
    *("taskId", "workspaceId", "kind", "status", "createdAt", "updatedAt", "startedAt", "finishedAt"),
    *("contextMode", "scope", "clientId", "requestId", "traceparent", "retryOf", "attempt", "acceptedMs"),
    *("errorCode", "errorMessage", "revision", "usage", "progress", "cancelRequested", "handedBack"),
)


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks are meant.

    Attributes:
        kind: None means any.
        statuses: any of these.
        viewer: who looks; without one those that are nobody's.
    """

    kind: Kind | None = None
    statuses: frozenset[Status] = STATUSES
    viewer: Viewer = ANYBODY

    def accepts(self, task: Task) -> bool:
        """Whether the task is meant: wanted, and there for the viewer."""
        return (
            self.kind in (None, task.kind)
            and task.status in self.statuses
            and self.viewer.may_see(task.client_id)
        )


@dataclass(frozen=True, slots=True)
class TaskPage:
    """Some tasks, newest first.

    Attributes:
        next_cursor: where the next page starts, None at the end. It stays good while tasks come and go.
    """

    tasks: tuple[Task, ...]
    next_cursor: int | None


class TaskStore:
    """The records of all workspaces."""

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client

    def find(self, workspace: WorkspaceId, kind: Kind, task_id: str) -> Task | None:
        """Read a task of this workspace and kind; None when there is none (any more).

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        if not is_task_id(task_id, kind):
            return None
        keys = LaneKeys(workspace)
        with storage_errors(), self._redis.pipeline(transaction=True) as pipe:
            pipe.hgetall(keys.task(TaskId(task_id)))
            pipe.lrange(keys.pending, 0, -1)
            record, pending = pipe.execute()
        return from_record(record, position=_position(record, pending)) if record else None

    def made_by(self, workspace: WorkspaceId, kind: Kind, idempotency_key: str) -> Task | None:
        """The task that an idempotency key has made; None when there is none (any more).

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors():
            made = cast(
                "str | None", self._redis.hget(LaneKeys(workspace).idempotency(idempotency_key), "task")
            )
        return self.find(workspace, kind, made) if made is not None else None

    def knows_any(self, workspace: WorkspaceId, idempotency_keys: Sequence[str]) -> bool:
        """Whether one of these idempotency keys has made a task within the last 24 h.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        if not idempotency_keys:
            return False
        keys = LaneKeys(workspace)
        with storage_errors():
            return bool(self._redis.exists(*map(keys.idempotency, idempotency_keys)))

    def is_idle(self, workspace: WorkspaceId) -> bool:
        """Whether nothing is queued or runs.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        keys = LaneKeys(workspace)
        with storage_errors(), self._redis.pipeline(transaction=True) as pipe:
            pipe.llen(keys.pending)
            pipe.hget(keys.lane, "running")
            queued, running = pipe.execute()
        return not queued and not running

    def page(
        self, workspace: WorkspaceId, wanted: TaskFilter, *, limit: int, cursor: int | None = None
    ) -> TaskPage:
        """List tasks without their results, newest first; records that are gone leave no holes.

        Args:
            limit: 1 to 200.
            cursor: ``next_cursor`` of the page before.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        found: list[tuple[int, Task]] = []
        below = cursor
        while len(found) <= limit:
            chunk, below = self._chunk(workspace, below)
            found += [(seq, task) for seq, task in chunk if wanted.accepts(task)]
            if below is None:
                break
        page = found[:limit]
        return TaskPage(tuple(task for _, task in page), page[-1][0] if len(found) > limit else None)

    def _chunk(
        self, workspace: WorkspaceId, below: int | None
    ) -> tuple[Iterable[tuple[int, Task]], int | None]:
        keys = LaneKeys(workspace)
        rows, following = self._rows(keys, below)
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            pipe.lrange(keys.pending, 0, -1)
            for task_id, _ in rows:
                pipe.hmget(keys.task(task_id), _LISTED_FIELDS)
            pending, *found = pipe.execute()
        records = [_record(_LISTED_FIELDS, values) for values in found]
        tasks = [
            (seq, from_record(record, position=_position(record, pending)))
            for (_, seq), record in zip(rows, records, strict=True)
            if record
        ]
        return tasks, following

    def _rows(self, keys: LaneKeys, below: int | None) -> tuple[list[tuple[TaskId, int]], int | None]:
        """Up to 200 tasks by falling number, and below which number there are more."""
        top = "+inf" if below is None else f"({below}"
        with storage_errors():
            found = cast(
                "list[tuple[str, float]]",
                self._redis.zrevrangebyscore(keys.index, top, "-inf", 0, MAX_PAGE, withscores=True),
            )
        rows = [(TaskId(task_id), int(seq)) for task_id, seq in found]
        return rows, rows[-1][1] if len(rows) == MAX_PAGE else None

    def outlines(self, workspace: WorkspaceId) -> Iterator[TaskOutline]:
        """What tasks came to, newest first; read as far as it is asked for.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        keys = LaneKeys(workspace)
        below: int | None = None
        while True:
            rows, below = self._rows(keys, below)
            yield from self._outlined(keys, [task_id for task_id, _ in rows])
            if below is None:
                return

    def _outlined(self, keys: LaneKeys, task_ids: Sequence[TaskId]) -> Iterator[TaskOutline]:
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            for task_id in task_ids:
                pipe.hmget(keys.task(task_id), _outline_fields(task_id))
            rows = pipe.execute()
        for task_id, row in zip(task_ids, rows, strict=True):
            record = _record(_outline_fields(task_id), row)
            if record:
                yield outline_of(record)


def _outline_fields(task_id: TaskId) -> tuple[str, ...]:
    # a result may be long; whether it is a preview counts for dreams only
    result = ("result",) if is_task_id(task_id, "dream") else ()
    return ("taskId", "kind", "finishedAt", "revision", *result)


def _record(fields: Sequence[str], values: Sequence[str | None]) -> dict[str, str]:
    """What HMGET answered, as HGETALL would have; empty when there is no record."""
    return {name: text for name, text in zip(fields, values, strict=True) if text is not None}


def _position(record: Mapping[str, str], pending: Any) -> int | None:
    element = f"{record['kind']}:{record['acceptedMs']}:{record['taskId']}"
    elements = cast("list[str]", pending)
    return elements.index(element) + 1 if element in elements else None
