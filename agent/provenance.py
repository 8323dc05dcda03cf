"""Who wrote a document and when: frontmatter lines that we add, the model does not."""

from core.clock import rfc3339, wall_ms
from memory.document import parse_document, set_document_fields
from memory.store import FencedTask
from memory.transaction import Transaction


def stamp_documents(transaction: Transaction, task: FencedTask) -> None:
    """Set ``modified`` and ``source`` of the documents that change, and ``created`` of the new ones.

    A document that was rewritten with the same bytes does not change, so it gets no stamp. Every
    other byte of a document stays as it is.
    """
    now = rfc3339(wall_ms())
    for change in transaction.changes:
        content = transaction.read(change.path)
        created = now if change.before is None else _created(change.before)
        fields = {"created": created} if created else {}
        fields |= {"modified": now, "source": source_of(task)}
        transaction.write(change.path, set_document_fields(content, fields))


def source_of(task: FencedTask) -> str:
    """One line that names the task, its client if known, and its kind."""
    client = f" client={task.client}" if task.client else ""
    return f"task={task.id}{client} kind={task.kind}"


def _created(document: bytes) -> str | None:
    parsed = parse_document(document)
    created = parsed.extra.get("created") if parsed is not None else None
    return created if isinstance(created, str) else None
