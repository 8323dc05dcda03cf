"""Where an answer that is still being written may be cut."""

import re

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


def cut_when_full(text: str, max_characters: int) -> int:
    """Where to cut text of at least ``max_characters``: at its last good place before they are full.

    The last blank line, else the last newline, else the last space, else in the middle of a word; never 0.
    """
    head = text[:max_characters]
    _, end = _last_blank_line(head)
    return end or head.rfind("\n") + 1 or head.rfind(" ") + 1 or max_characters


def cut_at_paragraph(text: str, min_characters: int) -> int:
    """Behind the last blank line, if that begins at or after ``min_characters``; else 0."""
    start, end = _last_blank_line(text)
    return end if start >= min_characters else 0


def _last_blank_line(text: str) -> tuple[int, int]:
    """Where the last blank line begins and ends; 0 and 0 without one, and for one that nothing precedes."""
    found = [match for match in _BLANK_LINE.finditer(text) if text[: match.start()].strip()]
    return found[-1].span() if found else (0, 0)
