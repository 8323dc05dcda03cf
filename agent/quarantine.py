"""Text that gives agents orders waits for a person, out of every index, where the policy says so."""

from memory.document import set_document_fields
from memory.orders import gives_orders
from memory.transaction import Transaction


def hold_back(transaction: Transaction) -> None:
    """Flag staged documents that give orders which they did not give before with ``review: true``.

    A flagged document lies where it belongs; it is in no index and no search until somebody takes the line
    out of it.
    """
    for change in transaction.changes:
        if change.after is not None and _gives_orders(change.after) and not _gives_orders(change.before):
            transaction.write(change.path, set_document_fields(change.after, {"review": "true"}))


def _gives_orders(content: bytes | None) -> bool:
    return content is not None and gives_orders(content.decode("utf-8", "replace"))
