"""A child's stderr as lines fit for our log."""

import json
import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

MAX_LINE_CHARS = 2000
TAIL_LINES = 20

_MAX_LINE_BYTES = 4 * MAX_LINE_CHARS
# control characters, line separators and direction overrides: a child must not forge or hide log lines
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

_EVENT = re.compile(r"[a-z][a-z0-9_]{0,63}")
# what the log or structlog itself gives a meaning to
_RESERVED = frozenset(
    {
        *("event", "level", "logger", "pid", "process", "timestamp"),
        *("exc_info", "extra", "positional_args", "stack", "stack_info"),
    }
)

Level = Literal["debug", "info", "warning", "error"]
_LEVELS: Mapping[object, Level] = {"debug": "debug", "info": "info", "warning": "warning", "error": "error"}


@dataclass(frozen=True, slots=True)
class Record:
    """What one line says.

    Attributes:
        facts: safe to hand to a logger as keyword arguments.
    """

    event: str
    level: Level
    facts: Mapping[str, Any]


def read_record(line: str) -> Record:
    """Take a line for what it is: a log record as our own agent writes it, else text of unknown weight.

    A record keeps its level, event name and facts; when and by which process it was said is for the reader
    of the stream to tell.
    """
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    event = fields.get("event") if isinstance(fields, dict) else None
    if not isinstance(fields, dict) or not isinstance(event, str) or not _EVENT.fullmatch(event):
        return Record("agent_stderr", "info", {"line": line})
    facts = {
        name: value for name, value in fields.items() if name not in _RESERVED and _EVENT.fullmatch(name)
    }
    level = fields.get("level")
    return Record(event, _LEVELS.get(level, "info") if isinstance(level, str) else "info", facts)


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
