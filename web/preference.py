"""What a request would rather have (RFC 7240): so far, how long it is ready to wait."""

import re

from werkzeug.http import parse_list_header

PREFER_HEADER = "Prefer"
APPLIED_HEADER = "Preference-Applied"
MAX_WAIT_S = 60

_WAIT = re.compile(r'\s*wait\s*=\s*(?P<quote>"?)(?P<seconds>[0-9]+)(?P=quote)\s*(;.*)?', re.IGNORECASE)


def wait_in(prefer: str) -> int | None:
    """Read how long a request wants to wait, in whole seconds from 0 to 60.

    Of several wishes the first counts; what is no wish to wait, or a malformed one, is ignored, as the
    standard has it.
    """
    wishes = (_WAIT.fullmatch(wish) for wish in parse_list_header(prefer))
    first = next((wish for wish in wishes if wish), None)
    return None if first is None else _clipped(first["seconds"])


def _clipped(text: str) -> int:
    digits = text.lstrip("0") or "0"
    return min(int(digits), MAX_WAIT_S) if len(digits) <= len(str(MAX_WAIT_S)) else MAX_WAIT_S
