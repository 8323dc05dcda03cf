"""Lexical likeness of facts: when do two texts say the same thing?

A wrong merge loses a fact, a missed one leaves a duplicate; so every doubt means "different".
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from agent.models import vocabulary
from agent.models.wording import fact_of

MIN_WORDS = 2
MAX_SEARCH_WORD_CHARACTERS = 60

_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\u0e00-\u0e7f]")
_BREAK = re.compile(r"[\s\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f\u060c\u061b]+")
# inside a word every character counts: "C++", "1.2.3", "--force"
_OPENING = "\"'([{*`\u201c\u2018\u00ab\u300c\u00bf\u00a1"
_CLOSING = "\"')]}*`\u201d\u2019\u00bb\u300d.,;:!?\u2026"
_WORD_OF_A_SEARCH = re.compile(r"\w+(?:'\w+)*")
_APOSTROPHE = "\u2019"
_AS_THEY_STAND = vocabulary.SILENT | vocabulary.TURNING | vocabulary.NARROWING

Likeness = Literal["different", "known", "newer"]


def search_words(text: str) -> tuple[str, ...]:
    """Words to look for a text's like with, folded, in order; scripts without spaces give character pairs."""
    words = [
        _singular(word)
        for word in _WORD_OF_A_SEARCH.findall(_fold(text))
        if len(word) <= MAX_SEARCH_WORD_CHARACTERS
    ]
    telling = [word for word in words if word not in vocabulary.SILENT | vocabulary.TURNING]
    return tuple(part for word in telling or words for part in _parts(word))


def fingerprint(text: str) -> tuple[str, ...]:
    """What two texts share if ``compare`` takes one for known beside the other; blank texts share nothing."""
    meaning = _meaning(text)
    return meaning if len(meaning) >= MIN_WORDS else (_collapse(text),)


def turning_words(text: str) -> frozenset[str]:
    """Words of a text that can turn its sense, such as a negation or a condition."""
    return frozenset(word for word in _meaning(text) if _turns(word))


def compare(new: str, old: str) -> Likeness:
    """Tell whether ``old`` says just ``new`` (known), says the beginning of it (newer), or something else.

    Known are the same words in the same order, apart from case, punctuation and words that carry
    nothing: an old text that says more may hold for less ("Use tabs in Makefiles" is no "Use tabs").
    Newer is a text that begins with all of the old one's words in their order, is no more than
    twice as long, and goes on without a word that could turn its sense or narrow it: a negation, a
    condition, a place, a time, a wish to forget. Then nothing is lost when it takes the old one's
    place. Whether two facts contradict each other is not understood here, so such facts are different.
    """
    if _collapse(new) == _collapse(old):
        return "known"
    ours, theirs = _meaning(new), _meaning(old)
    if len(ours) < MIN_WORDS or len(theirs) < MIN_WORDS:
        return "different"
    if ours == theirs:
        return "known"
    return "newer" if _carries_on(ours, theirs) else "different"


def _carries_on(longer: Sequence[str], shorter: Sequence[str]) -> bool:
    size = len(shorter)
    if len(longer) > 2 * size or longer[:size] != shorter:
        return False
    return not any(word in vocabulary.NARROWING or _turns(word) for word in longer[size:])


def _turns(word: str) -> bool:
    is_contraction = word.endswith("n't") or word.startswith("n'")
    return (
        is_contraction or word in vocabulary.TURNING or any(part in word for part in vocabulary.TURNING_PARTS)
    )


@lru_cache(maxsize=32)  # the new text is compared with every line of what was found
def _meaning(text: str) -> tuple[str, ...]:
    pieces = (
        piece.lstrip(_OPENING).rstrip(_CLOSING) or piece for piece in _BREAK.split(_fold(fact_of(text)))
    )
    words = (_singular(piece) for piece in pieces if piece and piece not in vocabulary.SILENT)
    return tuple(word for word in words if word not in vocabulary.SILENT)


def _parts(word: str) -> list[str]:
    if _UNSPACED.search(word):
        return [word[index : index + 2] for index in range(max(1, len(word) - 1))]
    return [word]


def _singular(word: str) -> str:
    """The word without a possessive, plural or third-person s, so that "prefers" is "prefer"."""
    word = word.removesuffix("'s")
    is_plural = len(word) > 3 and word.isalpha() and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural and word not in _AS_THEY_STAND else word


def _fold(text: str) -> str:
    return unicodedata.normalize("NFC", text).lower().replace(_APOSTROPHE, "'")


@lru_cache(maxsize=32)
def _collapse(text: str) -> str:
    collapsed = " ".join(_fold(text).split())
    return collapsed.rstrip(".!\u3002\uff01") or collapsed
