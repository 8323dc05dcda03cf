"""The tools that stage changes of memory: write_file, edit."""

import hashlib
from collections.abc import Callable
from pathlib import PurePath

from agent.errors import ScopeMismatch, ToolRefused
from agent.reading import read_text
from agent.tool_arguments import Edit, WriteFile
from core.errors import InputError
from core.text import well_formed
from memory.errors import DocumentMissing
from memory.transaction import Transaction

FREE_NAME_LEAD = "A free name: "  # before the path that a refusal ends with

_FREE_NAME_TRIES = 50


def write_file(
    transaction: Transaction, arguments: WriteFile, *, was_shown: Callable[[str], bool], max_new: int
) -> str:
    """Stage the whole content of a document.

    Args:
        was_shown: whether the agent has seen (or written) what an existing document says now.
        max_new: documents that the task may create, ≥ 1.

    Raises:
        ToolRefused: the document exists and was not read (the message offers a free name), or it would
            be one new document too many.
        ScopeMismatch, PathEscape: the path is out of bounds; the run must end.
    """
    path = arguments.file_path
    require_writable(transaction, path)
    if path.endswith(".md"):
        if not transaction.exists(path):
            _require_room(transaction, path, max_new)
        elif not was_shown(path):
            raise ToolRefused(
                f"{path} already exists and was not read as it is now. Read it if it is the one to update. "
                f"{FREE_NAME_LEAD}{free_name(transaction, path)}"
            )
    transaction.write(path, well_formed(arguments.content).encode())
    return f"Wrote {path}"


def edit(transaction: Transaction, arguments: Edit) -> str:
    """Stage the replacement of a piece of a document; LF in the arguments fits CRLF in the document.

    Raises:
        ToolRefused: missing document, no occurrence, several, or no change, each in its own words.
        ScopeMismatch, PathEscape: the path is out of bounds; the run must end.
    """
    path = arguments.file_path
    require_writable(transaction, path)
    try:
        text = read_text(transaction, path)
    except DocumentMissing:
        raise ToolRefused(f"{path} does not exist. Use write_file to create it") from None
    old, new = _in_newlines_of(text, arguments)
    _check_occurrences(text.count(old) if old else None, arguments)
    transaction.write(path, text.replace(old, new).encode())
    return f"Edited {path}"


def require_writable(transaction: Transaction, path: str) -> None:
    """Judge where a write goes before anything else is looked at.

    Raises:
        ToolRefused: the path is relative.
        PathEscape: it lies in no memory root.
        ScopeMismatch: it lies in a root that this task may not change.
    """
    if not path.startswith("/") and ".." not in PurePath(path).parts:
        raise ToolRefused("Paths must be absolute")
    if transaction.scope_of(path) not in transaction.writable:
        raise ScopeMismatch("the agent wrote to a scope that was not asked for")


def free_name(transaction: Transaction, path: str) -> str:
    """Find a name beside ``path`` that nothing has: ``name-2.md``, then ``name-3.md``."""
    taken = PurePath(path)
    for number in range(2, _FREE_NAME_TRIES):
        candidate = str(taken.with_name(f"{taken.stem}-{number}{taken.suffix}"))
        if not _is_taken(transaction, candidate):
            return candidate
    digest = hashlib.sha256(path.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return str(taken.with_name(f"{taken.stem}-{digest}{taken.suffix}"))


def _require_room(transaction: Transaction, path: str, max_new: int) -> None:
    created = [change.path for change in transaction.changes if change.before is None]
    if len(created) >= max_new:
        raise ToolRefused(
            f"{path} was not written, because this request may create no document beside "
            f"{', '.join(created)}. Write that one again with all that belongs in it, or update one that "
            "existed before"
        )


def _is_taken(transaction: Transaction, path: str) -> bool:
    try:
        return transaction.exists(path)
    except InputError:
        return True  # by a link or a twin, which is none of the model's doing


def _in_newlines_of(text: str, arguments: Edit) -> tuple[str, str]:
    old, new = arguments.old_string, well_formed(arguments.new_string)
    if old not in text and "\r\n" in text:
        old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
    return old, new


def _check_occurrences(count: int | None, arguments: Edit) -> None:
    path = arguments.file_path
    if count is None:
        raise ToolRefused("old_string is empty. Use write_file to replace a whole document")
    if count == 0:
        raise ToolRefused(f"old_string does not occur in {path}")
    if arguments.old_string == arguments.new_string:
        raise ToolRefused("old_string and new_string are the same, so nothing would change")
    if count > 1 and not arguments.replace_all:
        raise ToolRefused(f"old_string occurs {count} times in {path}; add context or set replace_all")
