"""W3C trace context: which distributed trace a request is part of (level 1, ``traceparent``)."""

import re

_TRACEPARENT = re.compile(
    r"(?P<version>[0-9a-f]{2})-(?P<trace>[0-9a-f]{32})-(?P<parent>[0-9a-f]{16})-[0-9a-f]{2}(?P<more>-[!-~]*)?"
)
MAX_TRACEPARENT_CHARS = 256  # a later version may say more; what nobody would log is not taken


def is_traceparent(text: str) -> bool:
    """Tell whether a header's value is one; of versions to come what version 0 has is looked at."""
    match = _TRACEPARENT.fullmatch(text) if len(text) <= MAX_TRACEPARENT_CHARS else None
    if match is None:
        return False
    is_known_form = match["version"] != "ff" and (match["version"] != "00" or match["more"] is None)
    return is_known_form and _says_something(match["trace"]) and _says_something(match["parent"])


def trace_id_of(traceparent: str | None) -> str | None:
    """The trace that a ``traceparent`` names, 32 hex digits; None without one."""
    return None if traceparent is None else traceparent.split("-")[1]


def _says_something(hex_digits: str) -> bool:
    return hex_digits.strip("0") != ""
