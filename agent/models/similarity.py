"""Lexical likeness of facts: when do two texts say the same thing?

A wrong merge loses a fact, a missed one leaves a duplicate; so every doubt means "different".
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Literal

_WORD = re.compile(r"\w+(?:'\w+)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]")
_TYPOGRAPHIC_APOSTROPHE = "\u2019"
_SILENT = frozenset(
    {
        "a",
        "an",
        "the",
        "is",
        "are",
        "was",
        "were",
        "be",
        "do",
        "does",
        "to",
        "of",
        "that",
        "this",
        "it",
        "its",
    }
    | {"i", "my", "me", "user", "please", "remember"}
)
_NEGATIONS = frozenset(
    {
        "no",
        "not",
        "never",
        "without",
        "avoid",
        "stop",
        "don't",
        "doesn't",
        "isn't",
        "aren't",
        "can't",
        "won't",
    }
)
MIN_WORDS = 2

Likeness = Literal["different", "known", "newer"]


def significant_words(text: str) -> tuple[str, ...]:
    """Words that carry a text's meaning, folded, in order; scripts without spaces give character pairs."""
    return tuple(word for word in _words(text) if word not in _SILENT and word not in _NEGATIONS)


def compare(new: str, old: str) -> Likeness:
    """Tell whether ``old`` already says ``new`` (known), says part of it (newer), or something else.

    One text must contain the other's words in the same order and be no more than twice as
    long; then nothing is lost when the longer one is kept. A differing negation makes the
    new text win, if it says at least as much.
    """
    ours, theirs = significant_words(new), significant_words(old)
    if _collapse(new) == _collapse(old):
        return "known"
    if min(len(ours), len(theirs)) < MIN_WORDS or max(len(ours), len(theirs)) > 2 * min(
        len(ours), len(theirs)
    ):
        return "different"
    same_sense = _negations(new) == _negations(old)
    if same_sense and _is_within(ours, theirs):
        return "known"
    return "newer" if _is_within(theirs, ours) else "different"


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace(_TYPOGRAPHIC_APOSTROPHE, "'")
    return [part for word in _WORD.findall(folded) for part in _parts(word)]


def _parts(word: str) -> list[str]:
    if _UNSPACED.search(word):
        return [word[index : index + 2] for index in range(max(1, len(word) - 1))]
    # a possessive, plural or third-person s goes, so that "prefers" is "prefer"
    word = word.removesuffix("'s")
    plural = len(word) > 3 and word.endswith("s") and not word.endswith("ss") and word not in _SILENT
    return [word[:-1] if plural else word]


def _negations(text: str) -> frozenset[str]:
    return frozenset(_words(text)) & _NEGATIONS


def _is_within(smaller: Sequence[str], larger: Iterable[str]) -> bool:
    rest = iter(larger)
    return all(any(word == other for other in rest) for word in smaller)


def _collapse(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".!")
