"""Entries of a document: the single facts in it, each of which can be removed alone; pure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import pairwise

from memory.bullets import Line, find_bullets, introduces, reason_of, split_lines
from memory.document import parse_document
from memory.errors import EntryUnknown

_FACT, _WHY, _HOW_TO_APPLY = "", "why", "how to apply"


@dataclass(frozen=True, slots=True)
class Entry:
    """One fact of a document.

    Attributes:
        index: place among the document's entries, from 0.
        start: offset in the document's text, byte order mark counted.
        stop: offset after the last line, its line end included.
        text: all of it but the reasons, as one line without the bullet's mark; may be empty.
        why: what its ``Why:`` lines say, as one line; empty when there are none.
        how_to_apply: the same of ``How to apply:``.
    """

    index: int
    start: int
    stop: int
    text: str
    why: str
    how_to_apply: str

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole document, which has no bullets then."""
        return self.start == 0


def parse_entries(data: bytes) -> tuple[Entry, ...]:
    """Find the entries of a document, in order.

    Each top bullet of a list is one, with its continuation, the bullets and fences below it and its
    reasons. Headings and text between lists belong to none. A document without bullets is one entry.

    Returns:
        None at all for what is no memory or not UTF-8.
    """
    body = _body_start(data)
    if body is None:
        return ()
    text = data.decode()
    spans = find_bullets(text, body)
    if not spans:
        return (_entry(0, (0, len(text)), text[body:]),)
    return tuple(_entry(index, span, _without_mark(text[slice(*span)])) for index, span in enumerate(spans))


def remove_entries(data: bytes, indexes: Collection[int]) -> bytes | None:
    """Cut entries out of a document; every byte outside of their lines stays.

    Returns:
        None when nothing that states something is left, so that the document has to go: no entry, and
        no text but headings, rules and lines that end with a colon.

    Raises:
        EntryUnknown: the document has no entry of that index.
    """
    entries = parse_entries(data)
    unknown = set(indexes) - {entry.index for entry in entries}
    if unknown:
        raise EntryUnknown(min(unknown))
    removed = [entry for entry in entries if entry.index in indexes]
    if not removed:
        return data
    if any(entry.is_whole for entry in removed):
        return None
    left = _cut(data.decode(), removed)
    return left if len(removed) < len(entries) or _states_something(left) else None


def _body_start(data: bytes) -> int | None:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    document = parse_document(data)
    return len(text) - len(document.body) if document is not None else None


def _cut(text: str, removed: Iterable[Entry]) -> bytes:
    borders = [0, *(border for entry in removed for border in (entry.start, entry.stop)), len(text)]
    return "".join(text[start:stop] for start, stop in list(pairwise(borders))[::2]).encode()


def _states_something(data: bytes) -> bool:
    body = _body_start(data)
    return body is not None and not all(introduces(line.text) for line in split_lines(data.decode(), body))


def _entry(index: int, span: tuple[int, int], text: str) -> Entry:
    parts: dict[str, list[str]] = {_FACT: [], _WHY: [], _HOW_TO_APPLY: []}
    part = _FACT
    for line in split_lines(text):
        reason = reason_of(line.text)
        part = _part_after(part, line) if reason is None else reason.label
        parts[part].append(line.text if reason is None else reason.rest)
    fact, why, how_to_apply = (" ".join(" ".join(lines).split()) for lines in parts.values())
    return Entry(index, *span, text=fact, why=why, how_to_apply=how_to_apply)


def _part_after(part: str, line: Line) -> str:
    return part if line.text else _FACT  # a reason ends with its paragraph


def _without_mark(text: str) -> str:
    return text.lstrip(" \t")[1:]
