"""Whether a dream would lose facts: what goes must be said again by what stays; pure over documents.

Words are counted, sense is not understood: a dream that rewords keeps most words, one that drops a fact
does not. Numbers, addresses and the like have no other wording, so each of those must stay.
"""

import re
from collections.abc import Collection, Iterable, Iterator

from agent.models import vocabulary
from agent.models.similarity import search_words, turning_words
from core.errors import InputError
from memory.document import parse_document
from memory.entries import parse_entries
from memory.errors import DocumentInvalid
from memory.standing import waits_for_review
from memory.transaction import Change, Transaction

MIN_KEPT_OF_REMOVED = 0.5  # share of the words of each fact of a document that is removed
MIN_KEPT_OF_REWRITTEN = 1 / 3  # the same of one that is rewritten, which may make it shorter

_LITERAL = re.compile(r"[^\s\"'`()\[\]{}<>,;]*\d[^\s\"'`()\[\]{}<>,;]*|https?://[^\s\"'`()\[\]{}<>,;]+")
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


def is_taken_in(source: bytes, content: bytes) -> bool:
    """Tell whether a document says all that another one says."""
    kept = _Kept([_text_of(content)])
    return all(kept.says(text) for text in _facts_of(source))


class _Kept:
    """What is said by the documents that stay."""

    def __init__(self, texts: Iterable[str]) -> None:
        text = "\n".join(texts)
        self._words = set(search_words(text))
        self._literals = _literals(text)
        self._turns = bool(turning_words(text))

    def share(self, text: str) -> float:
        """How much of a text's words is said, 0 to 1."""
        words = set(search_words(text))
        telling = words - vocabulary.STOP_WORDS or words
        return len(telling & self._words) / len(telling) if telling else 1.0

    def says(self, text: str) -> bool:
        """Whether a fact is said, with its literals, and with a negation if it has one."""
        turns = self._turns or not turning_words(text)
        return turns and _literals(text) <= self._literals and self.share(text) >= MIN_KEPT_OF_REMOVED


def _problem(change: Change, before: bytes, kept: _Kept) -> str:
    if waits_for_review(before):
        return UNDER_REVIEW
    facts = _facts_of(before)
    is_kept = (
        all(kept.says(fact) for fact in facts)
        if change.after is None
        else all(kept.share(fact) >= MIN_KEPT_OF_REWRITTEN for fact in facts)
    )
    return "" if is_kept else LEFT_OUT


def _contents(transaction: Transaction, paths: Iterable[str]) -> Iterator[bytes]:
    for path in paths:
        try:
            yield transaction.read(path)
        except InputError:
            continue  # taken in by another one since


def _facts_of(data: bytes) -> Iterator[str]:
    """What each entry says, and apart from that why and how; of a document without bullets its paragraphs."""
    entries = parse_entries(data)
    if not entries or entries[0].is_whole:
        yield from _PARAGRAPH_END.split(_text_of(data))
    for entry in entries:
        if not entry.is_whole:
            yield from (entry.text, entry.why, entry.how_to_apply)


def _text_of(data: bytes) -> str:
    document = parse_document(data)
    if document is None:
        return data.decode("utf-8", "replace")
    return f"{document.name}\n{document.description}\n{document.body}"


def _literals(text: str) -> set[str]:
    return {found.rstrip(".:!?").lower() for found in _LITERAL.findall(text)}
