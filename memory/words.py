"""The words that a text can be found by, whatever its language; pure."""

import re
import unicodedata

MAX_WORD_CHARS = 60

# Scripts that leave no blanks between words: Han, Kana, Thai, Lao, Myanmar, Khmer. Hangul has blanks, but
# its words carry endings, so their pairs find more than whole words.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff]+"
)
# \w leaves out the vowel signs and accents that words of these scripts are written with
_MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670"
    "\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
)
_WORD = re.compile(rf"[\w{_MARKS}]+")


def fold_text(text: str) -> str:
    """Text with letter case, Unicode form and kinds of blanks taken away, for comparing."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(folded.split())


def words_of(text: str) -> list[str]:
    """Words of a folded text in order; where a script has no blanks, each pair of neighbouring characters.

    Words are cut after 60 characters.
    """
    return [part for word in _WORD.findall(text) for part in _parts(word)]


def _parts(word: str) -> list[str]:
    if word.isascii():
        return [word[:MAX_WORD_CHARS]]
    parts: list[str] = []
    end = 0
    for run in _UNSPACED.finditer(word):
        parts += _spaced(word[end : run.start()])
        parts += _pairs(run[0])
        end = run.end()
    return parts + _spaced(word[end:])


def is_unspaced(word: str) -> bool:
    """Tell whether a word is of a script that leaves no blanks between words."""
    return _UNSPACED.fullmatch(word) is not None


def _spaced(word: str) -> list[str]:
    return [word[:MAX_WORD_CHARS]] if word else []


def _pairs(run: str) -> list[str]:
    return [run[index : index + 2] for index in range(max(1, len(run) - 1))]
