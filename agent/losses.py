"""Whether a dream would lose facts: what goes must be said again by what stays; pure over documents.

Words are looked for, sense is not understood. Of a document that is removed every telling word, number, date
and address must stand in what stays, and a negation if it had one: a merge may reorder and join, no more. Of
one that is rewritten a third of each fact's words is enough, so that stale facts can be mended.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from agent.models import vocabulary
from agent.models.similarity import search_words, turning_words
from core.errors import InputError
from memory.document import parse_document
from memory.entries import parse_entries, remove_entries
from memory.errors import DocumentInvalid
from memory.standing import waits_for_review
from memory.transaction import Change, Transaction

MIN_KEPT_OF_HEADLINE = 0.5  # share of the words of name and description of a document that is removed
MAX_NAMED = 20  # missing words
MIN_KEPT_OF_REWRITTEN = 1 / 3  # of each fact of one that is rewritten, which may make it shorter

_LITERAL = re.compile(
    r"\w+(?:\+\+|#)|[^\s\"'`()\[\]{}<>,;]*\d[^\s\"'`()\[\]{}<>,;]*|https?://[^\s\"'`()\[\]{}<>,;]+"
)
_LEAD = re.compile(r"^[ \t]*#.*$|^.*:[ \t\r]*$", re.MULTILINE)  # heads a list, and says nothing itself
_PARAGRAPH_END = re.compile(r"\n[ \t\r]*\n")

LEFT_OUT = "what it says would be lost; say it in the document that takes its place, or leave it as it is"
UNDER_REVIEW = "it waits for a person's approval; leave it as it is"


def find_losses(transaction: Transaction, written: Collection[str]) -> Iterator[DocumentInvalid]:
    """Name the documents of which too little would be left in all that was written.

    Args:
        written: absolute paths of the documents that were written, with the same bytes too.
    """
    kept = _Kept(_text_of(content) for content in _contents(transaction, written))
    for change in transaction.changes:
        if change.before is not None:
            reason = _problem(change, change.before, kept)
            if reason:
                yield DocumentInvalid(change.path, reason)


def find_loss(source: bytes, content: bytes) -> str:
    """What would be lost if one document took the place of another; empty if nothing would.

    Returns:
        A sentence for the model that merges them. It names words of the source.
    """
    kept = _Kept([_text_of(content)])
    if kept.replaces(source):
        return ""
    missing = sorted(kept.missing(source))[:MAX_NAMED]
    return f"{LEFT_OUT}. Missing: {', '.join(missing)}" if missing else LEFT_OUT


class _Kept:
    """What is said by the documents that stay."""

    def __init__(self, texts: Iterable[str]) -> None:
        text = "\n".join(texts)
        self._words = set(search_words(text))
        self._literals = _literals(text)
        self._turns = bool(turning_words(text))

    def replaces(self, source: bytes) -> bool:
        """Whether all is said that a document says."""
        is_named = self.share(_headline_of(source)) >= MIN_KEPT_OF_HEADLINE
        return is_named and all(self._says(fact) for fact in _facts_of(source))

    def missing(self, source: bytes) -> frozenset[str]:
        """Telling words and literals of a document's facts that are not said."""
        facts = tuple(_facts_of(source))
        words = frozenset[str]().union(*map(_telling_words, facts)) - self._words
        return words | (frozenset[str]().union(*map(_literals, facts)) - self._literals)

    def keeps(self, source: bytes) -> bool:
        """Whether enough is said of what a document said that stays, in other words."""
        return all(self.share(fact) >= MIN_KEPT_OF_REWRITTEN for fact in _facts_of(source))

    def share(self, text: str) -> float:
        """How much of a text's telling words is said, 0 to 1."""
        telling = _telling_words(text)
        return len(telling & self._words) / len(telling) if telling else 1.0

    def _says(self, fact: str) -> bool:
        turns = self._turns or not turning_words(fact)
        return turns and _literals(fact) <= self._literals and _telling_words(fact) <= self._words


def _problem(change: Change, before: bytes, kept: _Kept) -> str:
    if waits_for_review(before):
        return UNDER_REVIEW
    is_kept = kept.replaces(before) if change.after is None else kept.keeps(before)
    return "" if is_kept else LEFT_OUT


def _contents(transaction: Transaction, paths: Iterable[str]) -> Iterator[bytes]:
    for path in paths:
        try:
            yield transaction.read(path)
        except InputError:
            continue  # taken in by another one since


def _facts_of(data: bytes) -> Iterator[str]:
    """What each entry says, and apart from that why and how, and each paragraph that belongs to none."""
    entries = [entry for entry in parse_entries(data) if not entry.is_whole]
    for entry in entries:
        yield from (entry.text, entry.why, entry.how_to_apply)
    rest = remove_entries(data, range(len(entries)))
    if rest is not None:
        yield from _PARAGRAPH_END.split(_LEAD.sub("", _body_of(rest)) if entries else _body_of(rest))


def _text_of(data: bytes) -> str:
    return f"{_headline_of(data)}\n{_body_of(data)}"


def _headline_of(data: bytes) -> str:
    document = parse_document(data)
    return f"{document.name}\n{document.description}" if document is not None else ""


def _body_of(data: bytes) -> str:
    document = parse_document(data)
    return document.body if document is not None else data.decode("utf-8", "replace")


def _telling_words(text: str) -> frozenset[str]:
    words = frozenset(search_words(text))
    return words - vocabulary.STOP_WORDS - vocabulary.RELATIVE or words


def _literals(text: str) -> set[str]:
    return {found.rstrip(".:!?").lower() for found in _LITERAL.findall(text)}
