"""Times of which only bounds are known: a script reads its server's clock, its caller can't."""

from dataclasses import dataclass


class Blurred(Exception):
    """A deadline fell within the bounds of a call, so either answer is right."""


@dataclass(frozen=True)
class Span:
    """A number of milliseconds between two bounds, both included."""

    low: int
    high: int

    def __add__(self, ms: int) -> "Span":
        return Span(self.low + ms, self.high + ms)

    def at_least(self, number: int) -> "Span":
        return Span(max(self.low, number), max(self.high, number))

    def holds(self, value: object) -> bool:
        return isinstance(value, int) and self.low <= value <= self.high


class Unsaid(Span):
    """The design leaves it open, None included."""

    def holds(self, value: object) -> bool:
        return True


UNSAID = Unsaid(0, 0)

Moment = int | Span


def passed(moment: Moment, now: Span) -> bool:
    """Whether a moment is over at a time within ``now``.

    Raises:
        Blurred: it may or may not be.
    """
    low, high = (moment.low, moment.high) if isinstance(moment, Span) else (moment, moment)
    if high <= now.low:
        return True
    if low > now.high:
        return False
    raise Blurred


def agrees(expected: object, seen: object) -> bool:
    """Whether what was seen is what was expected; spans stand for any number in them."""
    if isinstance(expected, Span):
        return expected.holds(seen)
    if isinstance(expected, tuple) and isinstance(seen, tuple):
        return len(expected) == len(seen) and all(map(agrees, expected, seen))
    return expected == seen
