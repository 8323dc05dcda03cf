"""Reading task records; only the scripts write them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from core.ids import Kind, TaskId, WorkspaceId, is_task_id
from core.keys import LaneKeys
from events.connect import storage_errors
from jobs.tasks import Status, Task, TaskOutline, from_record, outline_of
from jobs.viewer import ANYBODY, Viewer

if TYPE_CHECKING:
    import redis


MAX_PAGE = 200


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks are meant; None means any. Without a viewer those that are nobody's."""

    kind: Kind | None = None
    status: Status | None = None
    viewer: Viewer = ANYBODY

    def accepts(self, task: Task) -> bool:
        """Whether the task is meant: wanted, and there for the viewer."""
        return (
            self.kind in (None, task.kind)
            and self.status in (None, task.status)
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
        """List tasks, newest first; records that are gone leave no holes.

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
                pipe.hgetall(keys.task(task_id))
            pending, *records = pipe.execute()
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
            record = {
                name: text
                for name, text in zip(_outline_fields(task_id), row, strict=True)
                if text is not None
            }
            if record:
                yield outline_of(record)


def _outline_fields(task_id: TaskId) -> tuple[str, ...]:
    # a result may be long; whether it is a preview counts for dreams only
    result = ("result",) if is_task_id(task_id, "dream") else ()
    return ("taskId", "kind", "finishedAt", "revision", *result)


def _position(record: Mapping[str, str], pending: Any) -> int | None:
    element = f"{record['kind']}:{record['acceptedMs']}:{record['taskId']}"
    elements = cast("list[str]", pending)
    return elements.index(element) + 1 if element in elements else None
