"""The journal: what was committed, by which task, in which order.

``journal/<seq>.json`` holds one intent; its fsync is the commit. ``state/applied`` holds the
number of the last one that has reached the roots, so at most the next one is open. ``tasks/<task>``
names the intent of a task, so finding one costs two reads whatever the journal's length.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.acp import Scope
from core.ids import LaneId, TaskId
from memory.errors import StoreUnusable, TaskClosed
from memory.files import StoreFiles

_JOURNAL = "journal"
_STATE = "state"
_APPLIED = "applied"
_TASKS = "tasks"
_FENCES = "fences"


@dataclass(frozen=True, slots=True)
class FencedTask:
    """Who commits: a task under the fence of its lane's lease.

    Attributes:
        fence: fencing token, ≥ 1.
    """

    id: TaskId
    lane: LaneId
    fence: int
    kind: str
    client: str | None = None


class _Record(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class PlannedChange(_Record):
    """What an intent does to one document.

    Attributes:
        root: path of the root, relative to the base where it lies below it, else absolute.
        path: of the document, relative to the root.
        old: digest of the bytes that the task saw; None when it saw no file.
        new: the whole new text; None removes the file.
    """

    root: str
    path: str
    scope: Scope
    old: str | None
    new: str | None


class Intent(_Record):
    """One committed task.

    Attributes:
        token: random; names the temporary files of its application, so that a later holder knows them.
        mtime_ns: modification time that the written documents get, nanoseconds since the epoch.
        result: what the task answers, whoever asks again.
    """

    version: Literal[1] = 1
    seq: Annotated[int, Field(ge=1)]
    task: str
    lane: str
    fence: int
    kind: str
    client: str | None
    token: str
    mtime_ns: int
    result: dict[str, Any]
    changes: tuple[PlannedChange, ...]


class _TaskMark(_Record):
    """How a task ended: ``seq`` of its intent, or None for a task closed without one."""

    seq: int | None
    fence: int


class _Fence(_Record):
    fence: int


class _Applied(_Record):
    seq: int


_R = TypeVar("_R", bound=_Record)


class Journal:
    """Reads and writes the store's records. Everything needs the store's lock."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files

    def stored_fence(self, lane: LaneId) -> int:
        """Greatest fence ever sealed for the lane, 0 when there is none."""
        found = self._read(_FENCES, _file_name(lane), _Fence)
        return found.fence if found is not None else 0

    def store_fence(self, lane: LaneId, fence: int) -> None:
        """Store a lane's fence durably."""
        self._files.replace(_FENCES, _file_name(lane), _dump(_Fence(fence=fence)))

    def find(self, task_id: TaskId) -> dict[str, Any] | None:
        """Recorded result of a task, None when it never committed; open intents must be finished before.

        Raises:
            TaskClosed: it was closed without a commit.
        """
        mark = self._read(_TASKS, _file_name(task_id), _TaskMark)
        if mark is None:
            return None
        if mark.seq is None:
            raise TaskClosed(f"task {task_id} was closed without a commit")
        intent = self._intent(mark.seq)
        if intent is None:
            raise StoreUnusable(f"journal entry {mark.seq} of task {task_id} is missing")
        return intent.result

    def close(self, task: FencedTask) -> None:
        """Mark a task as ended without a commit."""
        self._mark(task.id, _TaskMark(seq=None, fence=task.fence))

    def next_seq(self) -> int:
        """Number of the next intent; the open one's, if there is one."""
        found = self._read(_STATE, _APPLIED, _Applied)
        return found.seq + 1 if found is not None else 1

    def open_intent(self) -> Intent | None:
        """The intent that is committed but not marked as applied.

        Raises:
            StoreUnusable: there are several, which no crash leaves; replaying them would undo later edits.
        """
        intent = self._intent(self.next_seq())
        if intent is not None and self._intent(intent.seq + 1) is not None:
            raise StoreUnusable(f"{_STATE}/{_APPLIED} is behind the journal")
        return intent

    def append(self, intent: Intent) -> None:
        """Write an intent durably: once this returns, its task has committed."""
        self._files.create(_JOURNAL, _entry_name(intent.seq), _dump(intent))

    def mark_applied(self, intent: Intent) -> None:
        """Record that an intent has reached the roots, and its task with it."""
        self._mark(TaskId(intent.task), _TaskMark(seq=intent.seq, fence=intent.fence))
        self._files.replace(_STATE, _APPLIED, _dump(_Applied(seq=intent.seq)))

    def _intent(self, seq: int) -> Intent | None:
        return self._read(_JOURNAL, _entry_name(seq), Intent)

    def _mark(self, task_id: TaskId, mark: _TaskMark) -> None:
        self._files.replace(_TASKS, _file_name(task_id), _dump(mark))

    def _read(self, folder: str, name: str, shape: type[_R]) -> _R | None:
        content = self._files.read(folder, name)
        if content is None:
            return None
        try:
            return shape.model_validate_json(content)
        except ValidationError as error:
            raise StoreUnusable(f"{folder}/{name} is damaged") from error


def _dump(record: _Record) -> bytes:
    return record.model_dump_json().encode()


def _entry_name(seq: int) -> str:
    return f"{seq:012d}.json"


def _file_name(identity: str) -> str:
    return quote(identity, safe="") + ".json"
