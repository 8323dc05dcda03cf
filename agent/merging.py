"""The tool that merges memories: one document takes others in, which go; nothing else removes a document."""

import os
from collections.abc import Callable

from agent.errors import ToolRefused
from agent.losses import UNDER_REVIEW, find_loss
from agent.tool_arguments import MergeMemories
from agent.writing import require_writable
from core.errors import InputError
from core.text import well_formed
from memory.errors import DocumentMissing
from memory.names import is_pinned, split_absolute
from memory.standing import waits_for_review
from memory.transaction import Transaction
from memory.validation import find_problems

_WasShown = Callable[[str], bool]


def merge_memories(transaction: Transaction, arguments: MergeMemories, *, was_shown: _WasShown) -> str:
    """Stage the target and the removal of the sources, all of it or nothing.

    Args:
        was_shown: whether the agent has seen (or written) what an existing document says now.

    Raises:
        ToolRefused: a document was not read, is its own source, waits for approval, or the content is
            malformed or leaves out what a source says.
        InputError: the target or a source may not be changed, or the task changes too many documents.
        ScopeMismatch, PathEscape: a path is out of bounds; the run must end.
    """
    target = os.path.normpath(arguments.target_path)
    sources = list(dict.fromkeys(os.path.normpath(path) for path in arguments.source_paths))
    for path in (target, *sources):
        require_writable(transaction, path)
        _refuse_pinned(transaction, path)
    if target in sources:
        raise ToolRefused("The target can't be one of its sources")
    content = well_formed(arguments.content).encode()
    old = _read_target(transaction, target, was_shown)
    _require_well_formed(content, old)
    for path in sources:
        _require_taken_in(path, _read(transaction, path, was_shown), content)
    _stage(transaction, sources, target=target, content=content if content != old else None)
    return f"Merged {len(sources)} into {target}"


def _refuse_pinned(transaction: Transaction, path: str) -> None:
    root = transaction.roots.of(transaction.scope_of(path))
    if is_pinned(split_absolute(path)[len(split_absolute(str(root))) :]):
        raise ToolRefused(f"{path} is kept by hand; it is neither merged nor does it take others in")


def _read_target(transaction: Transaction, path: str, was_shown: _WasShown) -> bytes | None:
    return _read(transaction, path, was_shown) if transaction.exists(path) else None


def _read(transaction: Transaction, path: str, was_shown: _WasShown) -> bytes:
    try:
        content = transaction.read(path)
    except DocumentMissing:
        raise ToolRefused(f"{path} does not exist") from None
    if not was_shown(path):
        raise ToolRefused(f"{path} was not read as it is now. Read it before you merge it")
    if waits_for_review(content):
        raise ToolRefused(f"{path}: {UNDER_REVIEW}")
    return content


def _require_well_formed(content: bytes, old: bytes | None) -> None:
    problems = list(find_problems(content, before=old))
    if problems:
        raise ToolRefused("Nothing was merged. The content can't be saved: " + "; ".join(problems))


def _require_taken_in(path: str, source: bytes, content: bytes) -> None:
    loss = find_loss(source, content)
    if loss:
        raise ToolRefused(f"Nothing was merged. {path}: {loss}")


def _stage(transaction: Transaction, sources: list[str], *, target: str, content: bytes | None) -> None:
    """Stage the removals, then the content if it is another one; a step that is refused takes all back."""
    removed: dict[str, bytes] = {}
    try:
        for path in sources:
            before = transaction.read(path)
            transaction.remove(path)
            removed[path] = before
        if content is not None:
            transaction.write(target, content)
        else:
            transaction.hold(target)  # it stands for its sources from now on
    except InputError:
        for path, before in removed.items():
            transaction.write(path, before)
        raise
