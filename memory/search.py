"""Lexical search over documents, in any language and without a model; pure.

Ranking is Okapi BM25 over all fields of a document at once (BM25F): a word in the title counts as
several in the body.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core import clock
from core.acp import Scope
from memory.document import Document, parse_document
from memory.scan import ReadDocument
from memory.snippet import best_line
from memory.standing import is_expired, is_under_review
from memory.words import fold_text, is_unspaced, words_of

DEFAULT_LIMIT = 20
_TITLE_WEIGHT, _DESCRIPTION_WEIGHT, _BODY_WEIGHT = 4.0, 2.0, 1.0
_BEGINNING_WEIGHT = 0.5  # "deploy" in "deployment": other endings of the same word, mostly
_MIN_BEGINNING_CHARS = 3
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75  # k1 and b, as they are usually set
_MAX_TERMS = 32


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that a search found.

    Attributes:
        path: relative to the root of the scope.
        score: greater is better; only comparable within one search.
        snippet: the line that fits best, 200 characters at most.
    """

    scope: Scope
    path: str
    title: str
    score: float
    snippet: str


def search(
    documents: Iterable[ReadDocument],
    query: str,
    *,
    limit: int = DEFAULT_LIMIT,
) -> tuple[Hit, ...]:
    """Find the memories that hold words of the query, the best first, then the newest.

    Memories that wait for a review, or whose ``expires`` has passed, are not found.
    """
    terms = _terms_of(query)
    corpus = _Corpus(terms)
    now_ms = clock.wall_ms()
    for document in documents:
        parsed = parse_document(document.content)
        if parsed is not None and not is_under_review(parsed) and not is_expired(parsed, now_ms=now_ms):
            corpus.add(document, parsed)
    return corpus.best(limit)


def _terms_of(query: str) -> tuple[str, ...]:
    folded = fold_text(query)
    words = words_of(folded) or [folded]  # a query may be only signs, such as an emoji
    return tuple(dict.fromkeys(word for word in words if word))[:_MAX_TERMS]


@dataclass(frozen=True, slots=True)
class _Found:
    """What is kept of a document that may be found: thousands of them have to fit into memory."""

    scope: Scope
    path: str
    mtime_ns: int
    title: str
    snippet: str
    counts: tuple[float, ...]  # of each term
    length: float


class _Corpus:
    def __init__(self, terms: tuple[str, ...]) -> None:
        self._terms = terms
        self._found: list[_Found] = []
        self._size = 0
        self._length = 0.0

    def add(self, document: ReadDocument, parsed: Document) -> None:
        fields = (
            (_Field(parsed.name), _TITLE_WEIGHT),
            (_Field(parsed.description), _DESCRIPTION_WEIGHT),
            (_Field(parsed.body), _BODY_WEIGHT),
        )
        counts = tuple(sum(weight * field.count(term) for field, weight in fields) for term in self._terms)
        length = 1 + sum(weight * field.length for field, weight in fields)
        self._size += 1
        self._length += length
        if any(counts):
            snippet = best_line(parsed, self._terms)
            self._found.append(
                _Found(document.scope, document.path, document.mtime_ns, parsed.name, snippet, counts, length)
            )

    def best(self, limit: int) -> tuple[Hit, ...]:
        weights = [self._weight(position) for position in range(len(self._terms))]
        ranked = [(self._score(found, weights), found) for found in self._found]
        ranked.sort(key=lambda pair: (-pair[0], -pair[1].mtime_ns, pair[1].path))
        return tuple(
            Hit(found.scope, found.path, found.title, score, found.snippet)
            for score, found in ranked[: max(limit, 0)]
        )

    def _weight(self, position: int) -> float:
        """How telling a term is: the fewer documents hold it, the more (inverse document frequency)."""
        holding = sum(found.counts[position] > 0 for found in self._found)
        return math.log(1 + (self._size - holding + 0.5) / (holding + 0.5))

    def _score(self, found: _Found, weights: Sequence[float]) -> float:
        mean_length = self._length / self._size
        relative_length = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * found.length / mean_length
        return sum(
            weight * count * (_SATURATION + 1) / (count + _SATURATION * relative_length)
            for weight, count in zip(weights, found.counts, strict=True)
        )


class _Field:
    def __init__(self, text: str) -> None:
        self._text = fold_text(text)
        self._words = Counter(words_of(self._text))
        self.length = self._words.total()

    def count(self, term: str) -> float:
        if term not in self._text:  # by far the most common case, and the cheapest to find out
            return 0.0
        if is_unspaced(term) or not term.isalnum():
            return float(self._text.count(term))
        whole = self._words[term]
        if len(term) < _MIN_BEGINNING_CHARS:
            return float(whole)
        beginnings = sum(count for word, count in self._words.items() if word.startswith(term)) - whole
        return whole + _BEGINNING_WEIGHT * beginnings
