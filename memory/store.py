"""The store of one memory base: fences, journal, commits."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from core import clock, ids
from core.acp import Scope
from core.errors import MemlaneError
from core.logs import get_logger
from memory.apply import Applier, find_drift, root_name
from memory.beneath import disk_errors
from memory.errors import CommitConflict, LeaseLost, StoreUnusable, TaskClosed
from memory.files import Checkpoint, StoreFiles, do_nothing
from memory.journal import FencedTask as FencedTask  # part of this module's interface
from memory.journal import Intent, Journal, PlannedChange
from memory.lock import hold_lock
from memory.paths import SCOPES, Roots, canonical_folder
from memory.renames import Renames
from memory.transaction import Transaction

_TOP = "."
_STORE_ID = "store-id"


_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Commit:
    """What a commit did.

    Attributes:
        revision: ``r<seq>``; None when nothing changed.
        files_touched: absolute paths, sorted.
    """

    revision: str | None
    files_touched: tuple[Path, ...]
    touched_scopes: tuple[Scope, ...]


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
            StoreBusy, StoreUnusable: as for ``seal``; only possible when an index is wrong or unreadable.
        """
        with disk_errors("the memory folders"):
            drifted = find_drift(roots.of(scope) for scope in SCOPES)
        if drifted:
            with self._held() as applier:
                for root in drifted:
                    applier.rebuild_index(root)
        return Transaction(task, roots, writable=writable)

    def commit(
        self, transaction: Transaction, *, result_of: Callable[[Commit], dict[str, Any]]
    ) -> dict[str, Any]:
        """Commit what the transaction staged, whole or not at all, and record the task's result.

        A transaction without changes records its result too. Committing a task again returns
        the recorded result.

        Args:
            result_of: makes the JSON-able result from what will be committed; called once at most,
                under the lock.

        Raises:
            DocumentInvalid: the first thing that ``Transaction.validate`` finds.
            LeaseLost: the stored fence is not ours.
            TaskClosed: the task was closed by ``resolve``.
            CommitConflict: a document changed since it was read, or a created one exists meanwhile.
            StoreBusy: no lock within 10 s.
            StoreUnusable: the disk failed. After this or StoreBusy the commit may have happened, because the
                journal may be written: ``seal`` and ``resolve`` tell. After any other error it has not.
        """
        for problem in transaction.validate():
            raise problem
        with self._held() as applier:
            recorded = self._require_current(transaction.task)
            if recorded is not None:
                return recorded
            intent = self._plan(transaction, result_of)
            self._files.checkpoint("planned")
            applier.lock.check()
            self._journal.append(intent)
            self._finish_or_leave(intent, applier)
            return intent.result

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

    @contextmanager
    def _held(self) -> Iterator[Applier]:
        """Hold the lock, with every committed intent in its place."""
        with disk_errors("the memory store"), self._files.open() as folder, hold_lock(folder) as lock:
            self._files.sweep()
            applier = Applier(self._files, lock, renames=self._renames)
            intent = self._journal.open_intent()
            if intent is not None:
                self._finish(intent, applier)
            yield applier

    def _finish_or_leave(self, intent: Intent, applier: Applier) -> None:
        """Put a committed intent in its place; what fails now is for the next holder of the lock.

        The task has committed with the journal's fsync: nothing after it may turn that into a failure.
        """
        try:
            self._finish(intent, applier)
        except (MemlaneError, OSError, LookupError, ValueError) as error:
            _log.error("commit_left_open", seq=intent.seq, task=intent.task, reason=str(error))

    def _finish(self, intent: Intent, applier: Applier) -> None:
        applier.apply(intent)
        self._files.checkpoint("applied")
        self._journal.mark_applied(intent)

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

    def _plan(self, transaction: Transaction, result_of: Callable[[Commit], dict[str, Any]]) -> Intent:
        conflicts = transaction.find_conflicts()
        if conflicts:
            raise CommitConflict(conflicts)
        seq = self._journal.next_seq()
        task = transaction.task
        return Intent(
            seq=seq,
            task=task.id,
            lane=task.lane,
            fence=task.fence,
            kind=task.kind,
            client=task.client,
            token=secrets.token_hex(16),
            mtime_ns=clock.wall_ms() * 1_000_000,
            result=result_of(_describe(transaction, seq)),
            changes=tuple(self._planned(transaction)),
        )

    def _planned(self, transaction: Transaction) -> Iterator[PlannedChange]:
        for change in transaction.changes:
            root = transaction.roots.of(change.scope)
            yield PlannedChange(
                root=root_name(self.base, root),
                path=str(Path(change.path).relative_to(root)),
                scope=change.scope,
                old=transaction.digest_seen(change.path),
                new=change.after.decode() if change.after is not None else None,
            )


def _describe(transaction: Transaction, seq: int) -> Commit:
    changes = transaction.changes
    touched = {change.scope for change in changes}
    return Commit(
        revision=f"r{seq}" if changes else None,
        files_touched=tuple(Path(change.path) for change in changes),
        touched_scopes=tuple(scope for scope in SCOPES if scope in touched),
    )


def open_store(base: Path, *, checkpoint: Checkpoint = do_nothing, renames: Renames | None = None) -> Store:
    """Open the store of a memory base, making ``<base>/memlane`` (0700) when it is missing.

    Args:
        base: an existing folder.
        checkpoint: called with the name of each step that a commit reaches, for tracing and fault injection.
        renames: how files are renamed; tells file systems apart.

    Raises:
        StoreUnusable: base missing, not writable, or its store damaged.
        StoreBusy: a new store's lock was not free within 10 s.
    """
    files = StoreFiles(canonical_folder(base, "memory base"), checkpoint=checkpoint)
    with disk_errors("the memory store"):
        content = files.read(_TOP, _STORE_ID) or _make_store_id(files)
    return Store(files, store_id=_parse_store_id(content), renames=renames or Renames())


def _make_store_id(files: StoreFiles) -> bytes:
    with files.open() as folder, hold_lock(folder) as lock:
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
