"""Tasks whose agent writes to the memory roots by itself, with no transaction: what they did is found out.

Such a task can't be taken back while it runs, and can't be run again: whatever an attempt left, another one
would do once more. So its beginning closes it for everybody, and only what differs from what it found is
committed in its name, as one intent whose changes are in their places already.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from typing import Any

from core.errors import InputError
from core.ids import TaskId
from memory.beneath import disk_errors
from memory.errors import TaskClosed, TooLarge
from memory.files import StoreFiles
from memory.forgetting import without_texts
from memory.held import HeldStore
from memory.journal import FencedTask, Intent, Journal, PlannedChange
from memory.large_commits import complete
from memory.paths import Roots, root_names
from memory.planning import Commit, describe, plan_changes, plan_intent, restore_changes
from memory.revisions import see
from memory.snapshots import DocumentKey, Snapshot, Snapshots, look, read_now, snapshot_of
from memory.store import Store
from memory.transaction import Change

_UNFINISHED = "Ended without a result."
_WHAT = "the memory store"

ResultOf = Callable[[Commit], dict[str, Any]]


class DirectTasks:
    """The direct tasks of one store, from their beginning to their end.

    What others write to the same roots meanwhile without committing it can't be told from a task's own work.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files = StoreFiles(store.base)  # for reading without the lock

    def begin(self, task: FencedTask, roots: Roots) -> dict[str, Any] | None:
        """Remember what the roots hold, durably, and close the task for everything but its own end.

        Returns:
            The recorded result if the task has committed already (run nothing then), else None.

        Raises:
            LeaseLost: a greater fence is stored.
            TaskClosed: it has begun before, or was closed; run nothing.
            TooLarge: the roots hold more than a snapshot can.
            StoreBusy: the lock was not free within 10 s.
            StoreUnusable: the disk failed, or an earlier commit has no place yet in one of the roots. After
                this or StoreBusy the task has not begun, unless the disk failed in the very last step.
        """
        with disk_errors(_WHAT), self._store.tidied() as held:
            held.journal.take_over(task)
            recorded = held.journal.find(task.id)
            if recorded is not None:
                return recorded
            self._require_unblocked(held, roots)
            seq = held.journal.next_seq() - 1
        sight, names = look(roots), root_names(self._store.base, roots)
        with disk_errors(_WHAT), self._store.tidied() as held:
            held.journal.require_fence(task)
            Snapshots(held.files).keep(snapshot_of(task, sight, seq=seq, roots=names))
            held.journal.close(task)
        return None

    def record(self, task: FencedTask, roots: Roots, *, result_of: ResultOf) -> dict[str, Any]:
        """Commit what differs from what the task found, and its result.

        Recording a task again returns the recorded result.

        Args:
            result_of: makes the JSON-able result from what is committed; called once at most.

        Raises:
            LeaseLost: the stored fence is not ours.
            TaskClosed: it has not begun, or it was closed meanwhile.
            StoreBusy, StoreUnusable: as for ``Store.commit``.
        """
        sight = look(roots)
        with disk_errors(_WHAT), self._store.tidied() as held:
            held.journal.require_fence(task)
            snapshot = Snapshots(held.files).find(task.id)
            if snapshot is None or not held.journal.is_closed(task.id):
                return self._recorded(held, task)
            changes = self._changes(held, snapshot, roots, seen=sight.contents)
            intent = self._commit(held, task, roots, changes=changes, result_of=result_of)
        self._complete(intent, held.journal)
        return intent.result

    def has_begun(self, task: TaskId) -> bool:
        """Tell whether ``close`` may have something to say of a task; needs no lock.

        Raises:
            StoreUnusable: a record is damaged.
        """
        if Snapshots(self._files).find(task) is not None:
            return True
        done = Journal(self._files).committed_by(task)
        return done is not None and done.failed

    def close(self, task: FencedTask, roots: Roots) -> Commit | None:
        """Commit what a task that ended without a result had changed; its result stays none.

        Closing it again gives the same answer. A task that never began is not closed here.

        Returns:
            What it had changed; None when nothing, or when it has a result.

        Raises:
            LeaseLost: a greater fence is stored.
            StoreBusy, StoreUnusable: as for ``record``.
        """
        sight = look(roots)
        with disk_errors(_WHAT), self._store.tidied() as held:
            held.journal.take_over(task)
            snapshot = Snapshots(held.files).find(task.id)
            done = held.journal.committed_by(task.id)
            if snapshot is None or done is not None:
                Snapshots(held.files).remove(task.id)
                return self._told(done, roots) if done is not None and done.failed else None
            changes = (
                self._changes(held, snapshot, roots, seen=sight.contents)
                if held.journal.is_closed(task.id)
                else ()  # it was about to begin, and has not
            )
            if not changes:
                Snapshots(held.files).remove(task.id)
                return None
            author = replace(task, client=snapshot.client)
            intent = self._commit(held, author, roots, changes=changes)
        self._complete(intent, held.journal)
        return self._told(intent, roots)

    def _recorded(self, held: HeldStore, task: FencedTask) -> dict[str, Any]:
        recorded = held.journal.find(task.id)
        if recorded is None:
            raise TaskClosed(f"task {task.id} has not begun")
        return recorded

    def _changes(
        self, held: HeldStore, snapshot: Snapshot, roots: Roots, *, seen: dict[DocumentKey, bytes]
    ) -> tuple[Change, ...]:
        """What differs from the snapshot and no later intent made so, sorted by path.

        Args:
            seen: what the roots held a moment ago; only what differs there is read under the lock.
        """
        found, since = snapshot.contents(), self._since(held, snapshot, roots)
        suspects = {key for key in {*found, *seen} if found.get(key) != seen.get(key)}
        changes: list[Change] = []
        for key in {*suspects, *since}:
            if key in since:
                before, is_known = since[key].new, not since[key].pruned
            else:
                before, is_known = found.get(key), key in found or not snapshot.hides(*key)
            if is_known:
                changes += _change(key, roots, before=before)
        return tuple(sorted(changes, key=lambda change: change.path))

    def _since(self, held: HeldStore, snapshot: Snapshot, roots: Roots) -> dict[DocumentKey, PlannedChange]:
        """The last committed change of each document since the snapshot."""
        numbers = range(snapshot.seq + 1, held.journal.next_seq())
        intents = (held.journal.entry(number) for number in numbers)
        return {
            (change.scope, change.path): change
            for intent in intents
            for change in see(intent, base=self._store.base, roots=roots).changes
        }

    def _commit(
        self,
        held: HeldStore,
        task: FencedTask,
        roots: Roots,
        *,
        changes: Collection[Change],
        result_of: ResultOf | None = None,
    ) -> Intent:
        """Commit changes that are in their places already; without ``result_of`` the task has failed."""
        self._require_unblocked(held, roots)
        seq = held.journal.next_seq()
        commit = describe(tuple(changes), revision=f"r{seq}")
        result = result_of(commit) if result_of is not None else {"summary": _UNFINISHED}
        planned = plan_changes(changes, base=self._store.base, roots=roots)
        intent = plan_intent(task, seq=seq, changes=planned, result=result).model_copy(
            update={"observed": True, "failed": result_of is None}
        )
        try:
            held.commit(intent)
        except TooLarge:  # it is told without its texts rather than not at all
            intent = without_texts(intent, lambda _: True).model_copy(update={"result": result})
            held.commit(intent)
        Snapshots(held.files).remove(task.id)
        return intent

    def _require_unblocked(self, held: HeldStore, roots: Roots) -> None:
        held.require_unblocked(root_names(self._store.base, roots))

    def _complete(self, intent: Intent, journal: Journal) -> None:
        complete(intent, journal, self._store.tidied, base=self._store.base)

    def _told(self, intent: Intent, roots: Roots) -> Commit:
        changes = see(intent, base=self._store.base, roots=roots).changes
        return describe(tuple(restore_changes(changes, roots=roots)), revision=f"r{intent.seq}")


def _change(key: DocumentKey, roots: Roots, *, before: bytes | None) -> Iterator[Change]:
    scope, path = key
    try:
        after = read_now(roots.of(scope), path)
    except (InputError, OSError):
        return  # no document stands there, and none is gone
    if before != after:
        yield Change(f"{roots.of(scope)}/{path}", scope, before, after)
