"""How the offline model names a fact: title, description, file name."""

import hashlib
import re
import unicodedata

from agent.models import vocabulary
from agent.models.wording import fact_of, first_line

MAX_TITLE_CHARACTERS = 80
MAX_DESCRIPTION_CHARACTERS = 120
MAX_STEM_CHARACTERS = 60
MAX_STEM_BYTES = 120
UNNAMED = "Note"

_STOP = re.compile(r"[.!?\u2026]+[)\"'\u201d\u2019\u00bb]*(?=\s)|[\u3002\uff01\uff1f\u061f]")
_LAST_WORD = re.compile(r"[^\s()\[\]\"']*\Z")
_LETTER_BY_LETTER = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]|[\d.,]*\d")
_TITLE_END = " .,;:\u3002\u3001\uff0c\uff1b\uff1a"
_APOSTROPHES = re.compile("['\u2019\u02bc]")
# letters and marks that show nothing
_BLANK_LETTERS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
# MEMORY.md is the index, the next are guidance files of projects, the others are devices on some systems
_RESERVED = re.compile(r"memory|qwen|agents|claude|gemini|readme|con|prn|aux|nul|(?:com|lpt)\d")


def title_of(content: str) -> str:
    """First sentence of a fact on one line, without marks and request words, cut at a word."""
    line = first_line(content)
    for title in (_first_sentence(line).rstrip(_TITLE_END), line):
        if any(unicodedata.category(character)[0] in "LNS" for character in title):
            return _shorten(title, MAX_TITLE_CHARACTERS)
    return UNNAMED


def description_of(content: str) -> str:
    """One line that tells what the fact is about."""
    line = _shorten(" ".join(fact_of(content).split()), MAX_DESCRIPTION_CHARACTERS)
    shows = any(unicodedata.category(character)[0] not in "CMZ" for character in line)
    return line if shows else UNNAMED


def file_stem_of(content: str) -> str:
    """File name without suffix: the title's letters and digits of any script, hyphens between words.

    A title without any, or one that no file should be called by, gives ``memory-`` and a hash.
    """
    stem = "-".join(_fitting(_stem_words(title_of(content))))
    return f"memory-{content_hash(content)}" if not stem or _RESERVED.fullmatch(stem) else stem


def content_hash(content: str) -> str:
    """Eight hex digits that stand for this content."""
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _first_sentence(line: str) -> str:
    for stop in _STOP.finditer(line):
        if not _is_abbreviation(line[: stop.start()], stop[0]):
            return line[: stop.start() if stop[0][0] in ".\u3002" else stop.end()]
    return line


def _is_abbreviation(before: str, stop: str) -> bool:
    """Whether a full stop after this text belongs to a number or abbreviation, or is the first thing."""
    if stop != ".":
        return False
    found = _LAST_WORD.search(before)
    word = found[0].lower() if found is not None else ""
    return not word or word in vocabulary.ABBREVIATIONS or _LETTER_BY_LETTER.fullmatch(word) is not None


def _stem_words(title: str) -> list[str]:
    if title == UNNAMED:
        return []
    lowered = unicodedata.normalize("NFC", unicodedata.normalize("NFC", title).lower())
    kept = ""
    for character in _BLANK_LETTERS.sub("", _APOSTROPHES.sub("", lowered)):
        category = unicodedata.category(character)
        belongs = category[0] in "LN" or (category in {"Mn", "Mc"} and kept[-1:] not in {"", "-"})
        kept += character if belongs else "-"
    return [word for word in kept.split("-") if word]


def _fitting(words: list[str]) -> list[str]:
    """As many of the words as a name may hold, stop words at the end left out."""
    fitting: list[str] = []
    for word in words:
        if not _fits("-".join([*fitting, word])):
            break
        fitting.append(word)
    if words and not fitting:
        return [_cut(words[0])]
    while len(fitting) > 1 and fitting[-1] in vocabulary.STOP_WORDS:
        fitting.pop()
    return fitting


def _fits(stem: str) -> bool:
    return len(stem) <= MAX_STEM_CHARACTERS and len(stem.encode()) <= MAX_STEM_BYTES


def _cut(word: str) -> str:
    return word[:MAX_STEM_CHARACTERS].encode()[:MAX_STEM_BYTES].decode("utf-8", "ignore")


def _shorten(text: str, max_characters: int) -> str:
    if len(text) <= max_characters:
        return text
    cut = text[:max_characters]
    at_word = cut.rfind(" ")
    return (cut[:at_word] if at_word > max_characters // 2 else cut[: max_characters - 1]) + "…"
