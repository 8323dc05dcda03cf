"""The store of one memory base: fences, journal, commits."""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.acp import Scope
from core.ids import LaneId, TaskId
from memory.apply import Applier
from memory.beneath import disk_errors
from memory.cleaning import Cleaner, Hold
from memory.errors import StoreUnusable, TaskClosed
from memory.files import Checkpoint, StoreFiles, do_nothing
from memory.held import HeldStore
from memory.history import History
from memory.identity import find_store_id, make_store_id, parse_store_id, read_store_id, require_store
from memory.journal import FencedTask as FencedTask  # part of this module's interface
from memory.journal import Intent, Journal
from memory.large_commits import complete, mend_indexes
from memory.lock import hold_lock
from memory.paths import SCOPES, Roots, canonical_folder, root_name
from memory.planner import Planner
from memory.planning import Commit as Commit  # as above
from memory.previews import MAX_KEEP_MS
from memory.renames import Renames
from memory.transaction import MAX_FILES, Transaction

_WHAT = "the memory store"

Judge = Callable[[Transaction], None]


def _accept(_transaction: Transaction) -> None:
    pass


class Store:
    """Commits of all roots below one base; safe to use from many processes and threads at once.

    Attributes:
        store_id: random UUID, made with the store.
        base: canonical path of the memory base.
    """

    def __init__(self, files: StoreFiles, *, store_id: str, renames: Renames) -> None:
        self.store_id = store_id
        self.base = files.base
        self._files = files
        self._journal = Journal(files)
        self._renames = renames
        self._history = History(files, self._journal, renames=renames)
        self._planner = Planner(files, self._journal)

    def seal(self, task: FencedTask) -> dict[str, Any] | None:
        """Take the lane's memory over for this fence.

        Finishes what a crashed holder left open and stores the fence: from now on a holder of a
        smaller fence can't commit.

        Returns:
            The recorded result if this task has committed already (run nothing then), else None.

        Raises:
            LeaseLost: a greater fence is stored; nothing was changed for this lane.
            TaskClosed: the task was closed by ``resolve``.
            StoreBusy: the lock was not free within 10 s.
            StoreUnusable: the disk failed or a record is damaged.
        """
        with self._held():
            self._journal.take_over(task)
            return self._journal.find(task.id)

    def begin(
        self, task: FencedTask, roots: Roots, *, writable: frozenset[Scope], max_files: int = MAX_FILES
    ) -> Transaction:
        """Start a transaction of this task; an index that somebody else left wrong is rebuilt first.

        Args:
            max_files: how many files the task may change.

        Raises:
            StoreUnusable: every writable root waits for an earlier commit that can't be put into its
                place, or as for ``seal``.
            StoreBusy: as for ``seal``; only possible when an index is wrong or unreadable.
        """
        with disk_errors("the memory folders"):
            blocked = self._journal.open_roots()
            if writable and all(root_name(self.base, roots.of(scope)) in blocked for scope in writable):
                raise StoreUnusable("an earlier commit has no place yet in this memory")
            mend_indexes((roots.of(scope) for scope in SCOPES), self._held)
        return Transaction(task, roots, writable=writable, max_files=max_files)

    def commit(
        self, transaction: Transaction, *, result_of: Callable[[Commit], dict[str, Any]]
    ) -> dict[str, Any]:
        """Commit what the transaction staged, whole or not at all, and record the task's result.

        A transaction without changes records its result too. Committing a task again returns
        the recorded result.

        What others changed since the task read is merged with its edits where that is clear.

        Args:
            result_of: makes the JSON-able result from what will be committed; called once at most,
                under the lock.

        Raises:
            DocumentInvalid: the first thing that ``Transaction.validate`` finds.
            LeaseLost: the stored fence is not ours.
            TaskClosed: the task was closed by ``resolve``.
            CommitConflict: a document changed since it was read, in a way that can't be merged with the
                task's, or a created one exists meanwhile.
            StoreBusy: no lock within 10 s.
            StoreUnusable: the disk is full or failed, or an earlier commit that can't be put into its place
                blocks a root that this one changes. After this or StoreBusy the commit may have happened,
                because the journal may be written: ``seal`` and ``resolve`` tell. After any other error it
                has not.
        """
        _require_valid(transaction)
        return self._run(transaction.task, lambda held: self._planner.plan(held, transaction, result_of))

    def undo(
        self,
        task: FencedTask,
        revision: str,
        roots: Roots,
        *,
        result_of: Callable[[Commit], dict[str, Any]],
        judge: Judge = _accept,
    ) -> dict[str, Any]:
        """Take a revision back, as far as it lies in these roots: each document gets the bytes it had before.

        What changed in a document since is merged where that is clear. A revision that is undone already
        gives a commit without changes; an undo can be undone.

        Args:
            result_of: as for ``commit``.
            judge: looks at the edits before the lock is taken; what it raises refuses them.

        Raises:
            RevisionNotFound: there is no such revision, or it touches none of these roots.
            RevisionPruned: its texts are not kept any more.
            CommitConflict: names the documents that changed since in a way that can't be merged.
            LeaseLost, TaskClosed, StoreBusy, StoreUnusable: as for ``commit``.
        """
        transaction = Transaction(task, roots, writable=frozenset())
        with disk_errors(_WHAT):
            self._planner.stage_undo(revision, transaction)
        judge(transaction)
        return self._run(task, lambda held: self._planner.plan(held, transaction, result_of))

    def preview(
        self,
        transaction: Transaction,
        *,
        result_of: Callable[[Commit], dict[str, Any]],
        keep_ms: int = MAX_KEEP_MS,
    ) -> dict[str, Any]:
        """Record what a commit of the transaction would do, and change no document.

        Args:
            result_of: as for ``commit``; the commit that it is told of has no revision.
            keep_ms: how long the preview can be applied, milliseconds, 30 days at most; older ones go.

        Returns:
            The task's result, with ``core.memory_calls.Preview`` under ``preview``; ``seal`` gives it back.

        Raises:
            MemlaneError: as for ``commit``.
        """
        _require_valid(transaction)
        return self._run(
            transaction.task, lambda _: self._planner.plan_preview(transaction, result_of, keep_ms=keep_ms)
        )

    def apply(
        self,
        task: FencedTask,
        preview: TaskId,
        roots: Roots,
        *,
        result_of: Callable[[Commit, dict[str, Any]], dict[str, Any]],
        judge: Judge = _accept,
    ) -> dict[str, Any]:
        """Commit exactly what a preview showed.

        Args:
            preview: the task that made it, for the same roots.
            result_of: as for ``commit``; it is also given the preview's result, without ``preview``.
            judge: looks at the edits, under the lock; what it raises refuses them.

        Raises:
            PreviewStale: a document that the preview read or changes is not as it was, one that it creates
                exists, or there is no such preview (any more).
            LeaseLost, TaskClosed, StoreBusy, StoreUnusable: as for ``commit``.
        """
        transaction = Transaction(task, roots, writable=frozenset())

        def plan(held: HeldStore) -> Intent:
            shown = self._planner.restore_preview(preview, transaction)
            judge(transaction)
            return self._planner.plan(held, transaction, lambda commit: result_of(commit, shown))

        return self._run(task, plan)

    def resolve(self, task: FencedTask, *, close: bool) -> dict[str, Any] | None:
        """Find out how a task ended, before its end is reported as anything but its own answer.

        Returns:
            The recorded result if it committed; else None, and with ``close`` it never will.

        Raises:
            LeaseLost: a greater fence is stored.
            StoreBusy, StoreUnusable: as for ``seal``.
        """
        with self._held():
            self._journal.take_over(task)
            try:
                result = self._journal.find(task.id)
            except TaskClosed:
                return None
            if result is None and close:
                self._journal.close(task)
            return result

    def show_history(self) -> bool:
        """Bring ``history.git`` a part further towards the journal; call it while nobody waits for an answer.

        What prevents it is logged: no task depends on it.

        Returns:
            Whether there is more to show.
        """
        return self._history.follow()

    def prune(self, *, before_ms: int) -> int:
        """Take their texts from old commits that the history shows; who, when and where stay in the journal.

        They can't be shown or undone by the service any more then.

        Args:
            before_ms: how old they have to be, epoch milliseconds. Leave at least the life of a task's
                record: its result goes too.

        Returns:
            How many entries there were, 50 at most: call again until there are none.

        Raises:
            StoreBusy, StoreUnusable: as for ``seal``; entries pruned so far stay so.
        """
        with disk_errors(_WHAT):
            return self._cleaner(self._held).prune(before_ms=before_ms)

    def purge(
        self, task: FencedTask, documents: Collection[tuple[Scope, str]], roots: Roots
    ) -> tuple[tuple[LaneId, TaskId], ...]:
        """Take every text of some documents from journal, history, previews and displaced files.

        So go the texts of documents that dreams merged into these. What is in the roots stays. It is done
        again after a failure; doing it twice does no harm.

        Args:
            documents: scope and path relative to its root.

        Returns:
            The tasks, each after its lane, that changed or showed one of the documents, oldest first.

        Raises:
            LeaseLost: the stored fence is not ours.
            StoreBusy, StoreUnusable: as for ``seal``, or a commit of theirs waits for its place; a part may
                be done.
        """

        @contextmanager
        def hold() -> Iterator[HeldStore]:
            with self._held() as held:
                self._journal.require_fence(task)
                yield held

        with disk_errors(_WHAT):
            return self._cleaner(hold).purge(documents, roots, lane=task.lane)

    def _cleaner(self, hold: Hold) -> Cleaner:
        return Cleaner(self._files, self._journal, self._history, hold=hold)

    def require_writable(self) -> None:
        """Find out whether a task could write now, by a file that is made and removed; takes no lock.

        Raises:
            StoreUnusable: the store is gone, another one, read-only or full.
        """
        with disk_errors(_WHAT):
            require_store(self._files, read_store_id(self._files), self.store_id)
        self._files.require_writable()

    @contextmanager
    def tidied(self) -> Iterator[HeldStore]:
        """Hold the lock for other work, with every committed intent in its place or its root blocked.

        Raises:
            StoreBusy, StoreUnusable: as for ``seal``.
        """
        with self._held() as held:
            yield held

    @contextmanager
    def _held(self) -> Iterator[HeldStore]:
        """Hold the lock, with every committed intent in its place or its roots blocked."""
        with disk_errors(_WHAT), self._files.open() as folder, hold_lock(folder) as lock:
            require_store(self._files, find_store_id(self._files), self.store_id)
            held = HeldStore(self._files, self._journal, Applier(self._files, lock, renames=self._renames))
            held.tidy_up()
            yield held

    def _run(self, task: FencedTask, plan: Callable[[HeldStore], Intent]) -> dict[str, Any]:
        """Commit what is planned under the lock, unless the task has committed already."""
        with self._held() as held:
            self._journal.require_fence(task)
            recorded = self._journal.find(task.id)
            if recorded is not None:
                return recorded
            intent = plan(held)
            self._files.checkpoint("planned")
            held.commit(intent)
        complete(intent, self._journal, self._held, base=self.base)
        return intent.result


def _require_valid(transaction: Transaction) -> None:
    for problem in transaction.validate():
        raise problem


def open_store(
    base: Path,
    *,
    expect: str | None = None,
    checkpoint: Checkpoint = do_nothing,
    renames: Renames | None = None,
) -> Store:
    """Open the store of a memory base, making ``<base>/memlane`` (0700) when it is missing.

    Args:
        base: an existing folder.
        expect: id of the store that must stand there; nothing is ever made then, so that an empty mount
            point does not pass for the memory that should be mounted on it.
        checkpoint: called with the name of each step that a commit reaches, for tracing and fault injection.
        renames: how files are renamed; tells file systems apart.

    Raises:
        StoreUnusable: base missing, not writable, its store damaged, or not the expected one.
        StoreBusy: a new store's lock was not free within 10 s.
    """
    files = StoreFiles(canonical_folder(base, "memory base"), checkpoint=checkpoint)
    with disk_errors(_WHAT):
        if expect is not None:
            require_store(files, read_store_id(files), expect)
            return Store(files, store_id=expect, renames=renames or Renames())
        content = read_store_id(files) or make_store_id(files)
    return Store(files, store_id=parse_store_id(content), renames=renames or Renames())
