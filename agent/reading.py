"""The tools that read memory: read_file, list_directory, grep_search."""

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import PurePath

import re2  # type: ignore[import-untyped]  # google-re2 ships no stubs

from agent import blocks
from agent.deadline import Deadline
from agent.errors import ToolRefused
from agent.tool_arguments import (
    MAX_CHARACTERS,
    MAX_LINES,
    MAX_MATCHES,
    GrepSearch,
    ListDirectory,
    ReadFile,
)
from core.errors import InputError
from memory.transaction import ListedName, Transaction
from memory.validation import MAX_FILE_BYTES

MAX_ENTRIES = 100
MAX_MATCH_CHARACTERS = 300
FILE_LEAD = "File: "  # before the path of a document in which a search found something

_Finds = Callable[[str], bool]


def read_text(transaction: Transaction, path: str) -> str:
    """Read a memory file as the task would leave it.

    Raises:
        ToolRefused: it is not UTF-8.
        InputError: as ``Transaction.read``.
    """
    try:
        return transaction.read(path).decode("utf-8")
    except UnicodeDecodeError:
        raise ToolRefused(f"{path} is not UTF-8 text") from None


def read_file(transaction: Transaction, arguments: ReadFile) -> str:
    """Show a file, or a range of its lines, as a block of untrusted data."""
    require_reachable(transaction, arguments.file_path)
    lines = read_text(transaction, arguments.file_path).split("\n")
    max_characters = MAX_CHARACTERS if arguments.limit <= MAX_LINES else MAX_FILE_BYTES
    shown = _within_budget(lines[arguments.offset :][: arguments.limit], max_characters)
    block = blocks.wrap(blocks.MEMORY_DOCUMENT, "\n".join(shown), path=arguments.file_path)
    if len(shown) == len(lines) and shown == lines:
        return block
    return f"Lines {arguments.offset} to {arguments.offset + len(shown) - 1} of {len(lines)}:\n{block}"


def list_directory(transaction: Transaction, arguments: ListDirectory) -> str:
    """Show the names in a folder, directories first, as a block of untrusted data."""
    require_reachable(transaction, arguments.path)
    entries = [
        entry
        for entry in transaction.list_directory(arguments.path)
        if not any(fnmatchcase(entry.name, pattern) for pattern in arguments.ignore)
    ]
    if not entries:
        return "The folder is empty."
    lines = [_entry_line(entry) for entry in entries[:MAX_ENTRIES]]
    if len(entries) > MAX_ENTRIES:
        lines.append(f"… and {len(entries) - MAX_ENTRIES} more")
    return blocks.wrap(blocks.MEMORY_DOCUMENT, "\n".join(lines))


def grep_search(transaction: Transaction, arguments: GrepSearch, *, deadline: Deadline) -> str:
    """Search documents line by line, within the deadline, with an engine that can't be made to hang."""
    finds = _compile(arguments.pattern)
    limit = min(arguments.limit, MAX_MATCHES)
    groups: list[str] = []
    count = 0
    for path in _candidates(transaction, arguments):
        deadline.check()
        matches = _matching_lines(transaction, path, finds)[: limit - count]
        if matches:
            count += len(matches)
            groups.append("\n".join([f"{FILE_LEAD}{printable(path)}", *matches]))
        if count >= limit:
            groups.append(f"Stopped at {limit} matching lines.")
            break
    if not groups:
        return "No matches."
    return blocks.wrap(blocks.MEMORY_DOCUMENT, "\n".join(groups))


def require_reachable(transaction: Transaction, path: str) -> None:
    """Refuse a path that is relative or in a scope that this task does not work in.

    Raises:
        ToolRefused: it is.
        PathEscape: it lies in no memory root.
    """
    if not path.startswith("/"):
        raise ToolRefused("Paths must be absolute")
    if transaction.scope_of(path) not in transaction.writable:
        raise ToolRefused(f"This request does not cover the folder of {path}")


def printable(text: str) -> str:
    """Text on one line, with a question mark for every character that can't be shown."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _within_budget(lines: list[str], max_characters: int) -> list[str]:
    left = max_characters
    for index, line in enumerate(lines):
        left -= len(line) + 1
        if left < 0:
            return lines[:index] or [line[:max_characters]]
    return lines


def _entry_line(entry: ListedName) -> str:
    return f"[DIR] {printable(entry.name)}" if entry.is_directory else printable(entry.name)


def _compile(pattern: str) -> _Finds:
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    try:
        expression = re2.compile(pattern, options)
    except re2.error as error:
        raise ToolRefused(f"The pattern is not an RE2 expression: {error}") from None
    return lambda line: expression.search(line) is not None


def _candidates(transaction: Transaction, arguments: GrepSearch) -> Iterator[str]:
    folder = os.path.normpath(arguments.path) if arguments.path else ""
    if folder:
        require_reachable(transaction, folder)
    for scope in sorted(transaction.writable):
        root = str(transaction.roots.of(scope))
        for path in transaction.documents(scope):
            inside = not folder or path == folder or path.startswith(folder + "/")
            if inside and _fits(os.path.relpath(path, root), arguments.glob):
                yield path


def _fits(relative_path: str, glob: str) -> bool:
    if not glob:
        return True
    pattern = glob.removeprefix("**/")
    return fnmatchcase(relative_path, pattern) or fnmatchcase(PurePath(relative_path).name, pattern)


def _matching_lines(transaction: Transaction, path: str, finds: _Finds) -> list[str]:
    try:
        text = read_text(transaction, path)
    except InputError:
        return []  # gone, foreign or unreadable: nothing that a search could show
    return [
        f"L{number}: {printable(line)[:MAX_MATCH_CHARACTERS]}"
        for number, line in enumerate(text.split("\n"), 1)
        if finds(line)
    ]
