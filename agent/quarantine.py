"""Text that gives agents orders waits for a person, out of every index, where the policy says so."""

from memory.document import parse_document, set_document_fields
from memory.orders import gives_orders
from memory.standing import is_under_review
from memory.transaction import Change, Transaction


def hold_back(transaction: Transaction) -> None:
    """Flag staged documents that give orders which they did not give before with ``review: "true"``.

    A flagged document lies where it belongs; it is in no index and no search until a person takes the line
    out of it: what a task rewrites stays flagged.
    """
    for change in transaction.changes:
        if change.after is not None and not _waits(change.after) and _has_to_wait(change, change.after):
            transaction.write(change.path, set_document_fields(change.after, {"review": "true"}))


def _has_to_wait(change: Change, after: bytes) -> bool:
    return _waits(change.before) or (_gives_orders(after) and not _gives_orders(change.before))


def _waits(content: bytes | None) -> bool:
    document = parse_document(content) if content is not None else None
    return document is not None and is_under_review(document)


def _gives_orders(content: bytes | None) -> bool:
    return content is not None and gives_orders(content.decode("utf-8", "replace"))
