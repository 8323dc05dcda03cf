"""From a transaction to the intent that is committed: what the holder of a store's lock decides."""

from collections.abc import Callable
from typing import Any

from core.ids import TaskId
from core.memory_calls import Preview
from memory.diffs import diff_changes
from memory.errors import PreviewStale, TaskClosed
from memory.files import StoreFiles
from memory.held import HeldStore
from memory.journal import Intent, Journal
from memory.paths import root_name
from memory.planning import Commit, describe, invert, plan_changes, plan_intent
from memory.previews import Previews, stage_preview
from memory.reconciling import reconcile
from memory.revisions import find_changes, newest_revision
from memory.transaction import Transaction

ResultOf = Callable[[Commit], dict[str, Any]]


class Planner:
    """Plans the commits of one store. Everything needs its lock unless it says otherwise."""

    def __init__(self, files: StoreFiles, journal: Journal) -> None:
        self._base = files.base
        self._journal = journal
        self._previews = Previews(files)

    def plan(self, held: HeldStore, transaction: Transaction, result_of: ResultOf) -> Intent:
        """What a commit of the transaction writes.

        Raises:
            CommitConflict, StoreBusy, StoreUnusable: as for ``Store.commit``.
        """
        held.require_unblocked(self._roots_of(transaction))
        changes = reconcile(transaction)
        seq = self._journal.next_seq()
        return plan_intent(
            transaction.task,
            seq=seq,
            changes=plan_changes(changes, base=self._base, roots=transaction.roots),
            result=result_of(describe(changes, revision=f"r{seq}")),
        )

    def plan_preview(self, transaction: Transaction, result_of: ResultOf, *, keep_ms: int) -> Intent:
        """An intent without changes that shows what a commit would write; that is kept for so long.

        Raises:
            CommitConflict: as for ``Store.commit``.
        """
        changes = reconcile(transaction)
        planned = plan_changes(changes, base=self._base, roots=transaction.roots)
        shown = Preview(base_revision=newest_revision(self._journal), diff=diff_changes(planned))
        result = result_of(describe(changes, revision=None)) | {"preview": shown.to_wire()}
        self._previews.keep(stage_preview(transaction, planned, base=self._base, keep_ms=keep_ms))
        return plan_intent(transaction.task, seq=self._journal.next_seq(), changes=(), result=result)

    def stage_undo(self, revision: str, transaction: Transaction) -> None:
        """Stage what takes a revision back, in an empty transaction; needs no lock.

        Raises:
            RevisionNotFound, RevisionPruned: as for ``Store.undo``.
        """
        roots = transaction.roots
        seen = find_changes(self._journal, revision, base=self._base, roots=roots)
        for change in invert(seen.require_texts(), roots=roots):
            transaction.adopt(change)

    def restore_preview(self, preview: TaskId, transaction: Transaction) -> dict[str, Any]:
        """Stage what a preview showed, in an empty transaction; without the lock it may be stale at once.

        Returns:
            The preview's result, without ``preview``.

        Raises:
            PreviewStale: as for ``Store.apply``.
        """
        shown = self._recorded_preview(preview)
        self._previews.restore(preview, transaction)
        return shown

    def _recorded_preview(self, preview: TaskId) -> dict[str, Any]:
        try:
            recorded = self._journal.find(preview)
        except TaskClosed:
            recorded = None
        if recorded is None or "preview" not in recorded:
            raise PreviewStale("there is no such preview", paths=())
        return {key: value for key, value in recorded.items() if key != "preview"}

    def _roots_of(self, transaction: Transaction) -> set[str]:
        return {root_name(self._base, transaction.roots.of(change.scope)) for change in transaction.changes}
