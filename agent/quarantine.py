"""Text that gives agents orders waits for a person, out of every index, where the policy says so."""

from memory.document import set_document_fields
from memory.orders import gives_orders
from memory.standing import REVIEW_FIELD, waits_for_review
from memory.transaction import Change, Transaction


def hold_back(transaction: Transaction) -> None:
    """Flag staged documents that give orders which they did not give before with ``review: "true"``.

    A flagged document lies where it belongs; it is in no index and no search until a person approves it: what
    a task rewrites stays flagged.
    """
    for change in transaction.changes:
        if change.after is None or waits_for_review(change.after):
            continue
        if waits_for_review(change.before) or _gives_new_orders(change):
            transaction.write(change.path, set_document_fields(change.after, {REVIEW_FIELD: "true"}))


def _gives_new_orders(change: Change) -> bool:
    return _gives_orders(change.after) and not _gives_orders(change.before)


def _gives_orders(content: bytes | None) -> bool:
    return content is not None and gives_orders(content.decode("utf-8", "replace"))
