"""Reading task records; only the scripts write them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from core.ids import Kind, TaskId, WorkspaceId, is_task_id
from core.keys import LaneKeys
from events.connect import storage_errors
from jobs.tasks import Task, from_record

if TYPE_CHECKING:
    import redis


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


def _position(record: Mapping[str, str], pending: Any) -> int | None:
    element = f"{record['kind']}:{record['acceptedMs']}:{record['taskId']}"
    elements = cast("list[str]", pending)
    return elements.index(element) + 1 if element in elements else None
