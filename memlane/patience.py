"""Which failed calls are tried again, when, and for how long."""

import random
from dataclasses import dataclass

from core import clock
from memlane.errors import MemlaneApiError, QueueFull, TryLater, Unavailable, Unreachable

_FIRST_PAUSE_S = 0.2
_SLOWEST_PAUSE_S = 5.0
_UNTOLD_PAUSE_S = 1.0  # for a service that has no room and does not say for how long
_PASSING = frozenset({502, 503, 504})

Failure = MemlaneApiError | Unreachable


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a call may take with all its tries, seconds from its start; 0 means one try.

    Attributes:
        retry_s: while the service can't be reached, can't serve, or has had too many requests.
        place_s: while the lane is full.
    """

    retry_s: float
    place_s: float


class Patience:
    """The tries of one call."""

    def __init__(self, limits: Limits, *, is_repeatable: bool) -> None:
        """Begin now.

        Args:
            is_repeatable: whether doing it twice comes to the same as doing it once.
        """
        self._limits = limits
        self._is_repeatable = is_repeatable
        self._begun_ms = clock.boot_ms()
        self._failures = 0

    def pause_s(self, failure: Failure) -> float | None:
        """How long to wait before the next try, seconds; None if the failure is final."""
        self._failures += 1
        limit_s = self._limits.place_s if isinstance(failure, QueueFull) else self._limits.retry_s
        pause_s = _pause_s(failure, self._failures)
        spent_s = (clock.boot_ms() - self._begun_ms) / 1000
        is_final = not _may_pass(failure, is_repeatable=self._is_repeatable) or spent_s + pause_s > limit_s
        return None if is_final else pause_s


def backoff_s(failures: int, *, first_s: float = _FIRST_PAUSE_S, most_s: float = _SLOWEST_PAUSE_S) -> float:
    """A pause that doubles with each failure, up to half of it taken off at random.

    Args:
        failures: in a row, from 1.
    """
    jitter = random.uniform(0.5, 1.0)  # noqa: S311 - spreads retries, guards nothing
    return float(min(most_s, first_s * 2 ** min(failures - 1, 16)) * jitter)


def _may_pass(failure: Failure, *, is_repeatable: bool) -> bool:
    match failure:
        case TryLater():  # nothing was accepted
            return True
        case Unreachable():
            return is_repeatable or not failure.maybe_arrived
        case Unavailable():
            return is_repeatable and failure.status in _PASSING
        case _:
            return False


def _pause_s(failure: Failure, failures: int) -> float:
    told_s = failure.retry_after_s if isinstance(failure, MemlaneApiError) else None
    if isinstance(failure, TryLater):
        return _UNTOLD_PAUSE_S if told_s is None else told_s
    return max(told_s or 0.0, backoff_s(failures))
