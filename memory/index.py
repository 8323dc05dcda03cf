"""The generated index of a root, ``MEMORY.md``: its line format and its budgets.

Lengths are UTF-16 units, as the reference counts them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

from memory.document import Document, MemoryType
from memory.lines import IndexLine, LineCache
from memory.visible import visible_line

MAX_FIELD_CHARS = 120
MAX_LINE_CHARS = 150
MIN_CUT_CHARS = 24  # a description cut shorter than this says nothing
MAX_LINES = 200
MAX_INDEX_CHARS = 25_000
_SEPARATOR = " — "
_WARNING = (
    "> WARNING: MEMORY.md is too large; only part of it was written. "
    "Keep index entries concise and move detail into topic files."
)

_LINK = re.compile(r"[-*+] \[(.*?)\]\(([^()\s]+)\)")
_LAST_WORD = re.compile(r"\s+\S*\Z")


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """What the index needs to know of one document.

    Attributes:
        type: stands in for an empty title or description.
        path: relative to the root, ``/`` between names.
        mtime_ns: modification time, nanoseconds since the epoch.
    """

    type: MemoryType
    title: str
    description: str
    path: str
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class IndexLink:
    """What a line of an index leads to.

    Attributes:
        path: relative to the root, ``/`` between names.
    """

    title: str
    path: str


def parse_index(text: str) -> tuple[IndexLink, ...]:
    """Read the links of an index, whoever wrote it; other lines are left out."""
    found = (_LINK.match(line) for line in text.split("\n"))
    return tuple(
        IndexLink(match[1], unquote(match[2], errors="surrogateescape"))
        for match in found
        if match is not None
    )


def render_index(entries: Iterable[IndexEntry]) -> str:
    """Render the index: one line a document, newest first, then by name; empty text when there is none.

    No heading and no final newline. Past 200 lines or 25,000 UTF-16 units it ends with a blank line
    and a quoted warning; ordinary lines are kept before long ones.
    """
    return _render(IndexLine(entry.path, entry.mtime_ns, _line(entry)) for entry in entries)


def build_index(root: Path) -> str:
    """Render the index of the documents that are on disk below ``root``; a missing root has none."""
    return _render(_cache.lines(root) or ())


def build_known_index(root: Path, *, max_parsed: int) -> str | None:
    """Render the index as ``build_index`` does, unless that means work.

    Args:
        max_parsed: how many documents may be parsed that this process does not know as they are now.

    Returns:
        None when there are more of them; some of those are known from now on.
    """
    lines = _cache.lines(root, max_parsed=max_parsed)
    return _render(lines) if lines is not None else None


def _render(lines: Iterable[IndexLine]) -> str:
    texts = [line.text for line in sorted(lines, key=_order)]
    kept = _within_budget(texts[:MAX_LINES])
    text = "\n".join(kept)
    return text if len(kept) == len(texts) else f"{text}\n\n{_WARNING}"


def _order(line: IndexLine) -> tuple[int, str, str, str]:
    name = line.path.rpartition("/")[2]
    return -line.mtime_ns, name.casefold(), name, line.path


def _document_line(path: str, document: Document) -> str:
    return _line(IndexEntry(document.type, document.name, document.description, path, mtime_ns=0))


def _line(entry: IndexEntry) -> str:
    path = quote(entry.path.encode("utf-8", "surrogateescape"), safe="/~")
    link = f"- [{_field(entry.title) or entry.type}]({path})"
    description = _field(entry.description) or entry.type
    room = MAX_LINE_CHARS - _units(link) - len(_SEPARATOR)
    if _units(description) > room and room < MIN_CUT_CHARS:
        return link
    return f"{link}{_SEPARATOR}{_cut(description, room)}"


def _field(text: str) -> str:
    """Make one harmless piece of a line: nothing in it can end the link, the line or the list."""
    shown = visible_line(text).replace("`", "'").replace("](", "] (")
    return _cut(shown, MAX_FIELD_CHARS)


def _cut(text: str, limit: int) -> str:
    if _units(text) <= limit:
        return text
    head = _first_units(text, limit - 1)
    words = _LAST_WORD.sub("", head)
    # Text without blanks (Chinese, Japanese) would shrink to its first word.
    return (words if _units(words) >= limit * 0.6 else head).rstrip() + "…"


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _first_units(text: str, count: int) -> str:
    # Half of a surrogate pair at the cut is dropped, never written.
    return text.encode("utf-16-le")[: 2 * count].decode("utf-16-le", "ignore")


def _within_budget(lines: list[str]) -> list[str]:
    sizes = [_units(line) + 1 for line in lines]  # with the newline before or after it
    left = MAX_INDEX_CHARS + 1
    kept: set[int] = set()
    for limit in (MAX_LINE_CHARS, MAX_INDEX_CHARS):
        for position, size in enumerate(sizes):
            if position not in kept and size <= min(limit + 1, left):
                kept.add(position)
                left -= size
    return [line for position, line in enumerate(lines) if position in kept]


_cache = LineCache(_document_line)
