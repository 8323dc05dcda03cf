"""The journal: what was committed, by which task, in which order.

``journal/<seq>.json`` holds one intent; its fsync is the commit. ``state/applied`` holds the number of
the last one that a holder has settled: that one and all before it have reached their roots, save for
the roots that the same record names as open, at most one intent a root. At most the intent after it is
unsettled, left by a crash. ``tasks/<task>`` names the intent of a task, so finding one costs two reads
whatever the journal's length. ``tmp/<token>.intent`` is an intent before its commit. A settled entry is
written again only to lose texts; ``state/pruned`` holds the number of the last one that age cost them.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from core.acp import Scope
from core.ids import LaneId, TaskId
from memory.errors import LeaseLost, StoreUnusable, TaskClosed, TooLarge
from memory.files import MAX_RECORD_BYTES, TEMPORARY, StoreFiles, file_name
from memory.records import Content, Record

_JOURNAL = "journal"
_STATE = "state"
_APPLIED = "applied"
_PRUNED = "pruned"
_TASKS = "tasks"
_FENCES = "fences"
_DRAFT_SUFFIX = ".intent"


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


DocumentName = tuple[str, str]  # root as the journal names it, path relative to it


class PlannedChange(Record):
    """What an intent does to one document.

    Attributes:
        root: path of the root, relative to the base where it lies below it, else absolute.
        path: of the document, relative to the root.
        old: digest of the bytes that stood there at the commit; None for no file.
        before: those bytes; None too where the store kept no texts yet.
        new: the whole new document; None removes the file.
        pruned: whether both are gone, because the entry got old or the document had to be forgotten.
        removed: of one that is pruned, whether it removed the file.
    """

    root: str
    path: str
    scope: Scope
    old: str | None
    before: Content | None = None
    new: Content | None
    pruned: bool = False
    removed: bool = False

    @property
    def name(self) -> DocumentName:
        """Which document of the base it is."""
        return self.root, self.path

    @property
    def is_removal(self) -> bool:
        """Whether it removed the file."""
        return self.removed if self.pruned else self.new is None

    @property
    def has_texts(self) -> bool:
        """Whether both versions of the document are here."""
        return not self.pruned and (self.before is None) == (self.old is None)


class Intent(Record):
    """One committed task.

    Attributes:
        token: random; names the temporary files of its application, so that a later holder knows them.
        mtime_ns: modification time that the written documents get, nanoseconds since the epoch.
        result: what the task answers, whoever asks again.
        observed: whether the changes stood in the roots before the commit: their author wrote them there.
        failed: whether the task ended without a result all the same; nobody is given ``result`` then.
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
    observed: bool = False
    failed: bool = False

    @property
    def roots(self) -> tuple[str, ...]:
        """Roots that it changes, as the changes name them."""
        return tuple(dict.fromkeys(change.root for change in self.changes))


@dataclass(frozen=True, slots=True)
class OpenIntent:
    """A committed intent that has not reached all of its roots, or is not known to have.

    Attributes:
        roots: those it may still have to reach.
    """

    intent: Intent
    roots: tuple[str, ...]


class _TaskMark(Record):
    """How a task ended: ``seq`` of its intent, or None for a task closed without one."""

    seq: int | None
    fence: int


class _Fence(Record):
    fence: int


class _OpenRoot(Record):
    seq: int
    root: str


class _Pruned(Record):
    seq: int


class _Applied(Record):
    seq: int
    open: tuple[_OpenRoot, ...] = ()


_R = TypeVar("_R", bound=Record)


class Journal:
    """Reads and writes the store's records. Everything needs the store's lock unless it says otherwise."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files

    def take_over(self, task: FencedTask) -> None:
        """Store the task's fence, from which on a smaller one is refused.

        Raises:
            LeaseLost: a greater one is stored.
        """
        stored = self._stored_fence(task.lane)
        if stored > task.fence:
            raise LeaseLost(f"fence {stored} is stored, ours is {task.fence}", stored_fence=stored)
        if stored < task.fence:
            self._store_fence(task.lane, task.fence)

    def require_fence(self, task: FencedTask) -> None:
        """Go on only while the task's fence is the stored one.

        Raises:
            LeaseLost: it is not.
        """
        stored = self._stored_fence(task.lane)
        if stored != task.fence:
            raise LeaseLost(f"fence {stored} is stored, ours is {task.fence}", stored_fence=stored)

    def _stored_fence(self, lane: LaneId) -> int:
        """Greatest fence ever sealed for the lane, 0 when there is none."""
        found = self._read(_FENCES, file_name(lane), _Fence)
        return found.fence if found is not None else 0

    def _store_fence(self, lane: LaneId, fence: int) -> None:
        self._files.replace(_FENCES, file_name(lane), _Fence(fence=fence).to_json())

    def find(self, task_id: TaskId) -> dict[str, Any] | None:
        """Recorded result of a task, None when it never committed; all intents must be settled before.

        Raises:
            TaskClosed: it was closed, or failed when it had changed something.
        """
        if self._mark_of(task_id) is None:
            return None
        intent = self.committed_by(task_id)
        if intent is None or intent.failed:
            raise TaskClosed(f"task {task_id} ended without a result")
        return intent.result

    def committed_by(self, task_id: TaskId) -> Intent | None:
        """The intent of a task, failed or not, None when it never committed; needs what ``find`` needs."""
        mark = self._mark_of(task_id)
        return self.entry(mark.seq) if mark is not None and mark.seq is not None else None

    def is_closed(self, task_id: TaskId) -> bool:
        """Whether a task was marked as ended, and has not committed."""
        mark = self._mark_of(task_id)
        return mark is not None and mark.seq is None

    def close(self, task: FencedTask) -> None:
        """Mark a task as ended without a commit."""
        self._mark(task.id, _TaskMark(seq=None, fence=task.fence))

    def next_seq(self) -> int:
        """Number of the next intent; the unsettled one's, if there is one."""
        return self._applied().seq + 1

    def settled_seq(self) -> int:
        """Number of the last intent that is in its place as all before it are, 0 for none; needs no lock."""
        applied = self._applied()
        return min((part.seq - 1 for part in applied.open), default=applied.seq)

    def newest_seq(self) -> int:
        """Number of the last committed intent, 0 for none; needs no lock."""
        settled = self._applied().seq
        with suppress(StoreUnusable):  # it is being published just now, with a second name, or is damaged
            if self._intent(settled + 1) is not None:
                return settled + 1
        return settled

    def entry(self, seq: int) -> Intent:
        """A committed intent; needs no lock.

        Raises:
            StoreUnusable: it is missing or damaged.
        """
        intent = self._intent(seq)
        if intent is None:
            raise StoreUnusable(f"journal entry {seq} is missing")
        return intent

    def open_roots(self) -> frozenset[str]:
        """Roots that a settled intent could not reach so far; needs no lock."""
        return frozenset(part.root for part in self._applied().open)

    def open_intents(self) -> list[OpenIntent]:
        """Committed intents that have to be brought to their roots, oldest first.

        Raises:
            StoreUnusable: several are unsettled, which no crash leaves; replaying them would undo
                later edits.
        """
        applied = self._applied()
        roots: defaultdict[int, list[str]] = defaultdict(list)
        for part in applied.open:
            roots[part.seq].append(part.root)
        found = [OpenIntent(self.entry(seq), tuple(roots[seq])) for seq in sorted(roots)]
        unsettled = self._intent(applied.seq + 1)
        if unsettled is None:
            return found
        if self._intent(unsettled.seq + 1) is not None:
            raise StoreUnusable(f"{_STATE}/{_APPLIED} is behind the journal")
        return [*found, OpenIntent(unsettled, unsettled.roots)]

    def draft(self, intent: Intent) -> None:
        """Write an intent durably without committing it, so that a crash from here on can be tidied up.

        Raises:
            TooLarge: nobody could read it again; nothing was written.
        """
        content = intent.to_json()
        if len(content) > MAX_RECORD_BYTES:
            raise TooLarge(f"one commit can't hold more than {MAX_RECORD_BYTES} bytes")
        self._files.write_draft(intent.token + _DRAFT_SUFFIX, content, what=_JOURNAL)

    def drop_draft(self, intent: Intent) -> None:
        """Forget an intent that was not committed."""
        self._files.drop_draft(intent.token + _DRAFT_SUFFIX)

    def abandoned_drafts(self) -> Iterator[Intent]:
        """Drafts of holders that crashed, as far as they can be read; the next sweep removes them."""
        for name in self._files.drafts():
            if name.endswith(_DRAFT_SUFFIX):
                with suppress(StoreUnusable):  # cut short, so nothing followed it; or committed already
                    intent = self._read(TEMPORARY, name, Intent)
                    if intent is not None:
                        yield intent

    def append(self, intent: Intent) -> None:
        """Publish a drafted intent durably: once this returns, its task has committed."""
        self._files.publish(intent.token + _DRAFT_SUFFIX, _JOURNAL, _entry_name(intent.seq))

    def rewrite(self, intent: Intent) -> None:
        """Put a settled intent that has lost texts in the place of its entry, durably."""
        self._files.replace(_JOURNAL, _entry_name(intent.seq), intent.to_json())

    def pruned_seq(self) -> int:
        """Number of the last entry that age has cost its texts, 0 for none; needs no lock."""
        found = self._read(_STATE, _PRUNED, _Pruned)
        return found.seq if found is not None else 0

    def store_pruned(self, seq: int) -> None:
        """Store that number durably."""
        self._files.replace(_STATE, _PRUNED, _Pruned(seq=seq).to_json())

    def settle(self, intent: Intent, *, unreached: Collection[str]) -> bool:
        """Record which roots an intent could not be brought to, and its task with it.

        Args:
            unreached: of the intent's roots; none when it is in its place.

        Returns:
            Whether that is news; nothing is written otherwise.
        """
        before = self._applied()
        others = (part for part in before.open if part.seq != intent.seq)
        left = (_OpenRoot(seq=intent.seq, root=root) for root in unreached)
        after = _Applied(
            seq=max(before.seq, intent.seq),
            open=tuple(sorted((*others, *left), key=lambda part: (part.seq, part.root))),
        )
        if after.seq > before.seq:
            self._mark(TaskId(intent.task), _TaskMark(seq=intent.seq, fence=intent.fence))
        if after != before:
            self._files.replace(_STATE, _APPLIED, after.to_json())
        return after != before

    def _applied(self) -> _Applied:
        return self._read(_STATE, _APPLIED, _Applied) or _Applied(seq=0)

    def _intent(self, seq: int) -> Intent | None:
        return self._read(_JOURNAL, _entry_name(seq), Intent)

    def _mark_of(self, task_id: TaskId) -> _TaskMark | None:
        return self._read(_TASKS, file_name(task_id), _TaskMark)

    def _mark(self, task_id: TaskId, mark: _TaskMark) -> None:
        self._files.replace(_TASKS, file_name(task_id), mark.to_json())

    def _read(self, folder: str, name: str, shape: type[_R]) -> _R | None:
        content = self._files.read(folder, name)
        if content is None:
            return None
        try:
            return shape.model_validate_json(content)
        except ValidationError as error:
            raise StoreUnusable(f"{folder}/{name} is damaged") from error


def _entry_name(seq: int) -> str:
    return f"{seq:012d}.json"
