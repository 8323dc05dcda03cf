"""Text of strangers, made harmless for the place that it is shown in; all by code point."""

import re
import unicodedata
from collections.abc import Container

MAX_NAME_CHARACTERS = 64
MAX_PATH_CHARACTERS = 1024
MAX_ERROR_CHARACTERS = 200
UNKNOWN_NAME = "unknown"

_C0_AND_DEL = frozenset(map(chr, [*range(0x20), 0x7F]))
_BRACKETS = frozenset("[]")
_VARIATION_SELECTORS = (range(0xFE00, 0xFE10), range(0xE0100, 0xE01F0), range(0x180B, 0x180E), (0x180F,))
# at the start of a line: blanks, tags of blanks alone, then one tag, be it over several lines; controls are
# blanks here, as they become spaces afterwards
_TAG = re.compile(
    r"(?:\A|(?<=[\r\n]))(?:[\x00-\x20\x7f\s]|\[[\x00-\x20\x7f\s]{1,64}\]:?)*+(?:\[[^\[\]]{1,64}\]:?)?"
)
_TAG_MARKS = re.compile(r"\[|\]:?")


def sender_name(text: str) -> str:
    """A name that somebody gave themselves, for the tag before what they say; never empty."""
    return _blanked(text, _C0_AND_DEL | _BRACKETS)[:MAX_NAME_CHARACTERS].strip() or UNKNOWN_NAME


def quoted(text: str, max_characters: int) -> str:
    """Text for between quotes on one line, cut with ``…`` to at most so many characters."""
    shown = _blanked(text, _C0_AND_DEL | _BRACKETS | {'"'})
    return shown if len(shown) <= max_characters else f"{shown[: max_characters - 1]}…"


def prompt_text(text: str) -> str:
    """What somebody says where several do: on one line, and no part of it can pass for a sender's tag."""
    line = _blanked(_untagged(_blanked(text, ())), _C0_AND_DEL)
    return _untagged(line)  # what began on a line before may have become a tag with what was left of one


def block_text(text: str) -> str:
    """Text of several lines, which stay lines."""
    return _blanked(text, _C0_AND_DEL - {"\n", "\t"})


def path_text(text: str) -> str:
    """A path as it is told to an agent, at most 1,024 characters."""
    return _blanked(text, _C0_AND_DEL)[:MAX_PATH_CHARACTERS]


def log_text(text: str, max_characters: int) -> str:
    r"""Text for a line of a log: cut to so many characters, then each newline becomes a visible ``\n``."""
    return _blanked(text[:max_characters].replace("\n", "\\n"), _C0_AND_DEL)


def _untagged(text: str) -> str:
    return _TAG.sub(lambda tag: _TAG_MARKS.sub("", tag[0]), text)


def error_text(text: str) -> str:
    """What an error says, for logs and observers: cut as by ``log_text``."""
    return log_text(text, MAX_ERROR_CHARACTERS)


def _blanked(text: str, also: Container[str]) -> str:
    return "".join(" " if char in also or _is_unsafe(char) else char for char in text)


def _is_unsafe(char: str) -> bool:
    """Whether a character can hide or reorder others: controls of C1, format characters, separators."""
    code = ord(char)
    if code < 0x80:
        return False
    if code < 0xA0 or code in {0x2028, 0x2029} or unicodedata.category(char) == "Cf":
        return True
    return any(code in selectors for selectors in _VARIATION_SELECTORS)
