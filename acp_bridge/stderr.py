"""A child's stderr as lines fit for our log."""

import re
from collections import deque

MAX_LINE_CHARS = 2000
TAIL_LINES = 20

_MAX_LINE_BYTES = 4 * MAX_LINE_CHARS
# control characters, line separators and direction overrides: a child must not forge or hide log lines
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


class StderrLines:
    """Cuts a byte stream into clean lines; holds one unfinished line and the last few finished ones."""

    def __init__(self) -> None:
        self._rest = b""
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)

    @property
    def tail(self) -> tuple[str, ...]:
        """The last finished lines, oldest first, at most ``TAIL_LINES``."""
        return tuple(self._tail)

    def feed(self, chunk: bytes) -> list[str]:
        """Add bytes and return the lines that they complete.

        Lines are cut at ``MAX_LINE_CHARS``, stripped of control characters, and left out when blank;
        invalid UTF-8 is replaced.
        """
        *lines, rest = (self._rest + chunk).split(b"\n")
        self._rest = rest[:_MAX_LINE_BYTES]
        cleaned = [text for line in lines if (text := _clean(line))]
        self._tail.extend(cleaned)
        return cleaned

    def finish(self) -> list[str]:
        """Return the unfinished line, if any, when the stream has ended."""
        return self.feed(b"\n")


def _clean(line: bytes) -> str:
    text = line[:_MAX_LINE_BYTES].decode("utf-8", "replace").replace("\t", " ")
    return _UNPRINTABLE.sub("", text)[:MAX_LINE_CHARS].strip()
