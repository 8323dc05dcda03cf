"""Who wrote a document and when: frontmatter lines that we add, the model does not."""

from collections.abc import Iterator

from core.clock import rfc3339, wall_ms
from memory.document import parse_document, set_document_fields
from memory.errors import DocumentInvalid
from memory.store import FencedTask
from memory.transaction import Change, Transaction
from memory.validation import find_problems

_MAX_SOURCE_CHARACTERS = 256  # task id, client id and kind at their longest, and some


def stamp_documents(transaction: Transaction, task: FencedTask) -> None:
    """Set ``modified`` and ``source`` of the documents that change, and ``created`` of the new ones.

    A document that was rewritten with the same bytes does not change, so it gets no stamp. Every
    other byte of a document stays as it is.
    """
    for change, stamped in _stamped(transaction, task):
        transaction.write(change.path, stamped)


def find_stamped_problems(transaction: Transaction, task: FencedTask) -> tuple[DocumentInvalid, ...]:
    """Check every staged document as ``stamp_documents`` would leave it, without changing any."""
    return tuple(
        DocumentInvalid(change.path, reason)
        for change, stamped in _stamped(transaction, task)
        for reason in find_problems(stamped, before=change.before)
    )


def stays_valid(document: bytes) -> bool:
    """Tell whether a document may be saved, whichever task stamps it."""
    now = rfc3339(wall_ms())
    longest = {"created": now, "modified": now, "source": "x" * _MAX_SOURCE_CHARACTERS}
    return not any(find_problems(set_document_fields(document, longest)))


def source_of(task: FencedTask) -> str:
    """One line that names the task, its client if known, and its kind."""
    client = f" client={task.client}" if task.client else ""
    return f"task={task.id}{client} kind={task.kind}"


def _stamped(transaction: Transaction, task: FencedTask) -> Iterator[tuple[Change, bytes]]:
    now = rfc3339(wall_ms())
    for change in transaction.changes:
        if change.after is not None:
            created = now if change.before is None else _created(change.before)
            fields = {"created": created} if created else {}
            fields |= {"modified": now, "source": source_of(task)}
            yield change, set_document_fields(change.after, fields)


def _created(document: bytes) -> str | None:
    parsed = parse_document(document)
    created = parsed.extra.get("created") if parsed is not None else None
    return created if isinstance(created, str) else None
