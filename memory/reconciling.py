"""Fit a task's edits to what others wrote since the task read."""

from dataclasses import replace

from core.errors import InputError
from memory.errors import CommitConflict
from memory.merge import merge
from memory.transaction import Change, Transaction
from memory.validation import find_problems


def reconcile(transaction: Transaction) -> tuple[Change, ...]:
    """What has to be written so that the task's edits hold on what is on disk now; needs the store's lock.

    Returns:
        Changes whose ``before`` is on disk; one that somebody else made in the same way is left out.

    Raises:
        CommitConflict: names the documents that changed in a way that can't be merged with the task's, and
            those held that changed at all.
    """
    fitted = [(change.path, _fit(transaction, change)) for change in transaction.changes]
    conflicts = {path for path, change in fitted if change is None}
    conflicts |= {path for path, seen in transaction.held if not _is_still(transaction, path, seen)}
    if conflicts:
        raise CommitConflict(sorted(conflicts))
    return tuple(change for _, change in fitted if change is not None and change.before != change.after)


def _fit(transaction: Transaction, change: Change) -> Change | None:
    try:
        theirs = transaction.look_again(change.path)
    except InputError:
        return None
    if theirs in (change.before, change.after):
        return replace(change, before=theirs)
    if change.before is None or change.after is None or theirs is None:
        return None
    merged = merge(change.before, change.after, theirs)
    if merged is None or any(find_problems(merged, before=theirs)):
        return None
    return replace(change, before=theirs, after=merged)


def _is_still(transaction: Transaction, path: str, seen: bytes | None) -> bool:
    try:
        return transaction.look_again(path) == seen
    except InputError:
        return False
