"""Which piece of an existing document is about the same fact as a request, and what an update makes of it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from agent.models import titles
from agent.models.similarity import Likeness, compare
from agent.models.wording import marks_of
from agent.provenance import stays_valid
from memory.document import parse_document, set_document_fields

_OWN_LINE = re.compile(
    r"\s*(?:[-*+]\s|[>|]|\d{1,3}[.)]\s|#{1,6}\s|`{3}|~{3}|[*_]*(?:why|how to apply)[*_]*:)", re.IGNORECASE
)
_HEADING = re.compile(r"\s*#{1,6}\s")


@dataclass(frozen=True, slots=True)
class Shown:
    """An existing document that a read showed in full."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    """A piece of an existing document that is about the same fact.

    Attributes:
        start: where the piece begins in the document's text.
        old: the piece as it stands there.
        is_whole: whether it is the document's whole body.
    """

    document: Shown
    start: int
    old: str
    is_whole: bool
    likeness: Likeness


def find_match(content: str, documents: Sequence[Shown]) -> Match | None:
    """The piece that says the content already, else one that the content carries on, else None."""
    matches = [match for document in documents for match in _matches_in(content, document)]
    return min(matches, key=lambda match: match.likeness != "known", default=None)


def updated_text(match: Match, content: str) -> str:
    """The document with the content in place of the piece, and everything else as it was.

    Name and description follow if they came from the old piece.
    """
    text = match.document.text
    new = content.strip() if match.is_whole else marks_of(match.old) + " ".join(content.split())
    if "\r\n" in text:
        new = new.replace("\r\n", "\n").replace("\n", "\r\n")
    fields = {}
    parsed = parse_document(text.encode())
    if parsed is not None and parsed.name == titles.title_of(match.old):
        fields["name"] = titles.title_of(new)
    if parsed is not None and parsed.description == titles.description_of(match.old):
        fields["description"] = titles.description_of(new)
    changed = text[: match.start] + new + text[match.start + len(match.old) :]
    return set_document_fields(changed.encode(), fields).decode()


def smallest_edit(before: str, after: str) -> tuple[str, str]:
    """Old and new text of the fewest whole lines that make ``after`` of ``before``.

    The old text stands in ``before`` once, so that its replacement changes nothing else.
    """
    old, new = before.split("\n"), after.split("\n")
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    while head or tail:
        piece, its_place = "\n".join(old[head : len(old) - tail]), new[head : len(new) - tail]
        if its_place and _stands_once(piece, before):
            return piece, "\n".join(its_place)
        head, tail = max(head - 1, 0), max(tail - 1, 0)
    return before, after


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _stands_once(piece: str, text: str) -> bool:
    first = text.find(piece)
    return bool(piece) and text.find(piece, first + 1) < 0


def _matches_in(content: str, document: Shown) -> Iterator[Match]:
    parsed = parse_document(document.text.encode())
    if parsed is None:
        return
    start, whole = _stripped(len(document.text) - len(parsed.body), parsed.body)
    pieces = [
        (start, whole, True),
        *((*piece, False) for piece in _blocks(start, whole) if piece[1] != whole),
    ]
    for at, piece, is_whole in pieces:
        likeness = compare(content, piece) if piece else "different"
        match = Match(document, at, piece, is_whole, likeness)
        if likeness == "known" or (likeness == "newer" and _may_be_updated(match, content)):
            yield match


def _may_be_updated(match: Match, content: str) -> bool:
    return all(stays_valid(text.encode()) for text in (match.document.text, updated_text(match, content)))


def _blocks(start: int, body: str) -> Iterator[tuple[int, str]]:
    """Entries and paragraphs of a body with where each begins, those that are wrapped as one."""
    block: list[str] = []
    at = start
    for line in [*body.split("\n"), ""]:
        if block and not _carries_on(block[-1], line):
            yield _stripped(at, "\n".join(block))
            at += sum(len(one) + 1 for one in block)
            block = []
        block.append(line)


def _carries_on(upper: str, lower: str) -> bool:
    is_text = bool(upper.strip()) and bool(lower.strip())
    return is_text and _OWN_LINE.match(lower) is None and _HEADING.match(upper) is None


def _stripped(start: int, text: str) -> tuple[int, str]:
    return start + len(text) - len(text.lstrip()), text.strip()
