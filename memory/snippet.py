"""The line of a document that shows best why it was found; pure."""

from collections.abc import Collection
from itertools import islice

from memory.document import Document
from memory.visible import visible_line
from memory.words import fold_text

MAX_SNIPPET_CHARS = 200
_LEAD_CHARS = 60  # of a long line, shown before the first word that was looked for
_MAX_LINES = 2_000
_MAX_LINE_CHARS = 4_000


def best_line(document: Document, terms: Collection[str]) -> str:
    """The line of body or description that holds most of the terms, the first of those that hold as many.

    Args:
        terms: folded.

    Returns:
        Visible text, 200 characters at most, cut around the first term; empty for a document without text.
    """
    lines = [document.description, *islice(document.body.split("\n"), _MAX_LINES)]
    shown = [line for line in (visible_line(line[:_MAX_LINE_CHARS]) for line in lines) if line]
    best = max(shown, key=lambda line: _held(line, terms), default="")
    return _cut(best, terms)


def _held(line: str, terms: Collection[str]) -> int:
    folded = fold_text(line)
    return sum(term in folded for term in terms)


def _cut(line: str, terms: Collection[str]) -> str:
    if len(line) <= MAX_SNIPPET_CHARS:
        return line
    folded = line.casefold()  # not quite what was searched, and mostly as long as the line
    places = [place for place in (folded.find(term) for term in terms) if place >= 0]
    start = max(min(places, default=0) - _LEAD_CHARS, 0)
    opening = "…" if start else ""
    piece = line[start:][: MAX_SNIPPET_CHARS - len(opening)]
    is_end = start + len(piece) >= len(line)
    return opening + (piece if is_end else piece[:-1].rstrip() + "…")
