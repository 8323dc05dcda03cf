"""Text of a document as it may be shown on one line; pure."""

import re

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_HIDDEN = re.compile(r"[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_BLANKS = re.compile(r"[\s\ufeff]+")


def visible_line(text: str) -> str:
    """Make one line of a text: controls become blanks, nothing in it is hidden or turns its direction."""
    return _BLANKS.sub(" ", _HIDDEN.sub("", _CONTROL.sub(" ", text))).strip()
