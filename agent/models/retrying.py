"""How long to wait before a model server is asked again."""

import random
from datetime import UTC
from email.utils import parsedate_to_datetime

FIRST_PAUSE_MS = 500


def backoff_ms(tries: int) -> int:
    """Our own pause after so many failed tries, milliseconds.

    It doubles each time; up to half of it is taken off at random.
    """
    jitter = random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing
    return int(FIRST_PAUSE_MS * 2 ** (tries - 1) * jitter)


def retry_after_ms(text: str, *, now_ms: int) -> int | None:
    """What a ``Retry-After`` asks to wait, milliseconds ≥ 0; None if it can't be read.

    There is no upper bound: who waits compares it with the time that is left.

    Args:
        text: seconds or an HTTP date (RFC 9110 section 10.2.3).
        now_ms: wall clock, for dates.
    """
    try:
        return max(0, int(float(text) * 1000))
    except (ValueError, OverflowError):
        pass
    try:
        date = parsedate_to_datetime(text)
        # one without a zone (asctime's form has none) is in GMT wherever this machine is
        at_ms = int((date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return max(0, at_ms - now_ms)
