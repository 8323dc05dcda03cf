"""What changed in a document, as people and programs read it: unified diffs; pure."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff

from core.acp import Scope
from core.memory_calls import DocumentDiff
from memory.journal import PlannedChange

_CONTEXT_LINES = 3
_NO_END = "\n\\ No newline at end of file\n"


def diff_document(scope: Scope, path: str, *, before: bytes | None, after: bytes | None) -> DocumentDiff:
    """Diff of a document's two versions, None for no file; what is not UTF-8 shows as U+FFFD.

    Args:
        path: relative to the root of its scope.
    """
    return DocumentDiff(
        scope=scope,
        path=path,
        change="created" if before is None else "deleted" if after is None else "updated",
        diff=_unified(path, before, after),
    )


def diff_changes(changes: Iterable[PlannedChange]) -> list[DocumentDiff]:
    """Diffs of changes as the journal has them; all must have their texts."""
    return [
        diff_document(change.scope, change.path, before=change.before, after=change.new) for change in changes
    ]


def _unified(path: str, before: bytes | None, after: bytes | None) -> str:
    old, new = _lines(before), _lines(after)
    names = ("/dev/null" if before is None else f"a/{path}", "/dev/null" if after is None else f"b/{path}")
    return "".join(_ended(unified_diff(old, new, *names, n=_CONTEXT_LINES)))


def _lines(content: bytes | None) -> Sequence[str]:
    """Lines as git counts them: they end with a line feed; a carriage return before it is part of them."""
    text = (content or b"").decode("utf-8", "replace")
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]


def _ended(lines: Iterator[str]) -> Iterator[str]:
    return (line if line.endswith("\n") else line + _NO_END for line in lines)
