"""The store of one memory base: fences, journal, commits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from core import ids
from core.acp import Scope
from memory.apply import Applier, find_drift, root_name
from memory.beneath import disk_errors
from memory.errors import LeaseLost, StoreUnusable, TaskClosed
from memory.files import Checkpoint, StoreFiles, do_nothing
from memory.held import HeldStore
from memory.history import History
from memory.journal import FencedTask as FencedTask  # part of this module's interface
from memory.journal import Journal
from memory.lock import hold_lock
from memory.paths import SCOPES, Roots, canonical_folder
from memory.planning import Commit as Commit  # as above
from memory.planning import describe, plan_changes, plan_intent
from memory.reconciling import reconcile
from memory.renames import Renames
from memory.transaction import Transaction

_TOP = "."
_STORE_ID = "store-id"


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
        self._history = History(files, self._journal)

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
            self._take_over(task)
            return self._journal.find(task.id)

    def begin(self, task: FencedTask, roots: Roots, *, writable: frozenset[Scope]) -> Transaction:
        """Start a transaction of this task; an index that somebody else left wrong is rebuilt first.

        Raises:
            StoreUnusable: every writable root waits for an earlier commit that can't be put into its
                place, or as for ``seal``.
            StoreBusy: as for ``seal``; only possible when an index is wrong or unreadable.
        """
        with disk_errors("the memory folders"):
            blocked = self._journal.open_roots()
            if writable and all(root_name(self.base, roots.of(scope)) in blocked for scope in writable):
                raise StoreUnusable("an earlier commit has no place yet in this memory")
            drifted = find_drift(roots.of(scope) for scope in SCOPES)
        if drifted:
            with self._held() as held:
                for root in drifted:
                    held.applier.rebuild_index(root)
        return Transaction(task, roots, writable=writable)

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
        for problem in transaction.validate():
            raise problem
        return self._commit(transaction, result_of)

    def resolve(self, task: FencedTask, *, close: bool) -> dict[str, Any] | None:
        """Find out how a task ended, before its end is reported as anything but its own answer.

        Returns:
            The recorded result if it committed; else None, and with ``close`` it never will.

        Raises:
            LeaseLost: a greater fence is stored.
            StoreBusy, StoreUnusable: as for ``seal``.
        """
        with self._held():
            self._take_over(task)
            try:
                result = self._journal.find(task.id)
            except TaskClosed:
                return None
            if result is None and close:
                self._journal.close(task)
            return result

    def require_writable(self) -> None:
        """Find out whether a task could write now, by a file that is made and removed; takes no lock.

        Raises:
            StoreUnusable: the store is gone, another one, read-only or full.
        """
        with disk_errors("the memory store"):
            _require_store(self._files, _read_store_id(self._files), self.store_id)
        self._files.require_writable()

    @contextmanager
    def tidied(self) -> Iterator[Applier]:
        """Hold the lock for mending, with every committed intent in its place or its root blocked.

        Raises:
            StoreBusy, StoreUnusable: as for ``seal``.
        """
        with self._held() as held:
            yield held.applier

    @contextmanager
    def _held(self) -> Iterator[HeldStore]:
        """Hold the lock, with every committed intent in its place or its roots blocked."""
        with disk_errors("the memory store"), self._files.open() as folder, hold_lock(folder) as lock:
            _require_store(self._files, self._files.read(_TOP, _STORE_ID), self.store_id)
            held = HeldStore(self._files, self._journal, Applier(self._files, lock, renames=self._renames))
            held.tidy_up()
            yield held

    def _take_over(self, task: FencedTask) -> None:
        stored = self._journal.stored_fence(task.lane)
        if stored > task.fence:
            raise LeaseLost(f"fence {stored} is stored, ours is {task.fence}", stored_fence=stored)
        if stored < task.fence:
            self._journal.store_fence(task.lane, task.fence)

    def _require_current(self, task: FencedTask) -> dict[str, Any] | None:
        stored = self._journal.stored_fence(task.lane)
        if stored != task.fence:
            raise LeaseLost(f"fence {stored} is stored, ours is {task.fence}", stored_fence=stored)
        return self._journal.find(task.id)

    def _commit(
        self, transaction: Transaction, result_of: Callable[[Commit], dict[str, Any]]
    ) -> dict[str, Any]:
        with self._held() as held:
            recorded = self._require_current(transaction.task)
            if recorded is not None:
                return recorded
            held.require_unblocked(self._roots_of(transaction))
            changes = reconcile(transaction)
            seq = self._journal.next_seq()
            intent = plan_intent(
                transaction.task,
                seq=seq,
                changes=plan_changes(changes, base=self.base, roots=transaction.roots),
                result=result_of(describe(changes, revision=f"r{seq}")),
            )
            self._files.checkpoint("planned")
            held.commit(intent)
        if intent.changes:
            self._history.follow()
        return intent.result

    def _roots_of(self, transaction: Transaction) -> set[str]:
        return {root_name(self.base, transaction.roots.of(change.scope)) for change in transaction.changes}


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
    with disk_errors("the memory store"):
        if expect is not None:
            _require_store(files, _read_store_id(files), expect)
            return Store(files, store_id=expect, renames=renames or Renames())
        content = _read_store_id(files) or _make_store_id(files)
    return Store(files, store_id=_parse_store_id(content), renames=renames or Renames())


def open_present_store(base: Path) -> Store:
    """Open the store of a memory base, whichever it is, and never make one.

    Raises:
        StoreUnusable: there is none, or it is damaged.
    """
    files = StoreFiles(canonical_folder(base, "memory base"))
    with disk_errors("the memory store"):
        content = _read_store_id(files)
    if content is None:
        raise StoreUnusable(f"there is no memory store below {files.base} yet; the first task makes one")
    return Store(files, store_id=_parse_store_id(content), renames=Renames())


def _read_store_id(files: StoreFiles) -> bytes | None:
    try:
        return files.read(_TOP, _STORE_ID)
    except StoreUnusable:
        # it is being made just now, or its maker died: under the lock its draft goes, which is a second link
        with files.open() as folder, hold_lock(folder):
            files.sweep()
            return files.read(_TOP, _STORE_ID)


def _require_store(files: StoreFiles, content: bytes | None, expected: str) -> None:
    if content is None:
        raise StoreUnusable(f"the memory store below {files.base} is missing (expected {expected})")
    found = _parse_store_id(content)
    if found != expected:
        raise StoreUnusable(
            f"the memory store below {files.base} is another one: {found} (expected {expected})"
        )


def _make_store_id(files: StoreFiles) -> bytes:
    files.make_store()
    with files.open() as folder, hold_lock(folder) as lock:
        files.sweep()
        content = files.read(_TOP, _STORE_ID)
        if content is None:
            content = ids.new_uuid().encode()
            lock.check()
            files.create(_TOP, _STORE_ID, content)
        return content


def _parse_store_id(content: bytes) -> str:
    try:
        return str(UUID(content.decode("ascii").strip()))
    except ValueError as error:
        raise StoreUnusable(f"{_STORE_ID} is damaged") from error
