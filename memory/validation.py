"""What a document must be before it may be committed; pure."""

import re
from collections.abc import Iterator

from memory.document import MEMORY_TYPES
from memory.frontmatter import MAX_HEADER_BYTES, one_line, read_header, split_frontmatter

MAX_FILE_BYTES = 256 * 1024

_TYPES = ", ".join(MEMORY_TYPES)
_DECORATION = r"[\s.\u2026()\[\]{}<>!/*#_-]*"
_SUBJECT = (
    r"(?:\b(?:the|all|other|every|rest|remainder|remaining|existing|previous|of|file|document|memory|"
    r"content|contents|text|entries|lines|sections|is|are|stays?|remains?|kept|here)\b\s*)"
)
_STAND_IN = re.compile(
    rf"{_DECORATION}"
    rf"(?:{_SUBJECT}*\b(?:unchanged|omitted)|"
    rf"{_SUBJECT}+\b(?:as before|as is|same as before|the same|goes here))\b"
    r"(?:\s*\b(?:from|as|above|before|here|for brevity)\b)*"
    rf"{_DECORATION}",
    re.IGNORECASE,
)
_ELLIPSIS = re.compile(
    r"[\s(\[{<!/*#_-]*(?:\.\.\.|\u2026)\s*(?:the )?(?:rest|remainder|remaining|existing|previous)\b[^.]{0,60}"
    rf"{_DECORATION}",
    re.IGNORECASE,
)


def find_problems(content: bytes, *, before: bytes | None = None) -> Iterator[str]:
    """Name what is wrong with a document, each as a sentence that quotes none of its text.

    Args:
        before: the bytes it replaces; a line that was there already is no placeholder, and a header that
            stays as it was is not judged.
    """
    if len(content) > MAX_FILE_BYTES:
        yield f"it is larger than {MAX_FILE_BYTES} bytes"
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        yield "it is not UTF-8"
        return
    if "\0" in text:
        yield "it holds NUL characters"
    old = before.decode("utf-8", "replace") if before is not None else ""
    if not _has_header_of(text, old):
        yield from find_header_problems(text)
    old_lines = set(old.splitlines())
    for number, line in enumerate(text.splitlines(), start=1):
        if line not in old_lines and is_placeholder(line):
            yield f"line {number} is a placeholder; write the whole text instead"


def _has_header_of(text: str, other: str) -> bool:
    ours, theirs = split_frontmatter(text), split_frontmatter(other)
    return ours is not None and theirs is not None and ours.header == theirs.header


def find_header_problems(text: str) -> Iterator[str]:
    """Name what is wrong with a document's header."""
    split = split_frontmatter(text)
    if split is None:
        yield f"it must start with frontmatter between two `---` lines, at most {MAX_HEADER_BYTES} bytes"
        return
    fields = read_header(split.header)
    if one_line(fields.get("type")) not in MEMORY_TYPES:
        yield f"its `type` must be one of {_TYPES}"
    for key in ("name", "description"):
        if not one_line(fields.get(key)):
            yield f"its `{key}` is missing or empty"


def is_placeholder(line: str) -> bool:
    """Tell whether a line stands for text that its author left out, such as ``[rest unchanged]``."""
    if len(line) > 120:
        return False
    return _STAND_IN.fullmatch(line) is not None or _ELLIPSIS.fullmatch(line) is not None
