"""Who wrote a document and when: frontmatter lines that we add, the model does not."""

from collections.abc import Sequence
from os.path import normpath

from core.clock import rfc3339, wall_ms
from memory.document import parse_document, set_document_fields
from memory.store import FencedTask
from memory.transaction import Transaction


def stamp_documents(transaction: Transaction, written: Sequence[str], task: FencedTask) -> None:
    """Set ``modified`` and ``source`` of the documents written, and ``created`` of the new ones.

    Rewriting a document with the same bytes is an update too: the fact was confirmed.
    Every other byte of a document stays as it is.
    """
    now = rfc3339(wall_ms())
    before = {normpath(change.path): change.before for change in transaction.changes}
    for path in written:
        content = transaction.read(path)
        old = before.get(path, content)
        created = now if old is None else _created(old)
        fields = {"created": created} if created else {}
        fields |= {"modified": now, "source": source_of(task)}
        transaction.write(path, set_document_fields(content, fields))


def source_of(task: FencedTask) -> str:
    """One line that names the task, its client if known, and its kind."""
    client = f" client={task.client}" if task.client else ""
    return f"task={task.id}{client} kind={task.kind}"


def _created(document: bytes) -> str | None:
    parsed = parse_document(document)
    created = parsed.extra.get("created") if parsed is not None else None
    return created if isinstance(created, str) else None
