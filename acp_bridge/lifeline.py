"""How long a child may live without a further word: the rule behind what its guard is told."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from acp_bridge.limits import Limits
from core import clock


class Lifeline:
    """Extends one child's life bit by bit. For use on one loop's thread.

    As a rule for as long as this process lives: a worker that is dead or paused extends nothing. During
    leased calls only as long as somebody renews the lease.
    """

    def __init__(self, limits: Limits, *, tell: Callable[[int], None]) -> None:
        """Extend nothing yet; ``tell`` gets each deadline, in milliseconds since boot."""
        self._limits = limits
        self._tell = tell
        self._leased_calls = 0
        self._deadline_ms: int | None = None
        self._has_lapsed = False

    @property
    def has_lapsed(self) -> bool:
        """Whether a deadline ever passed unextended: then the guard has ended the child, or is about to."""
        return self._has_lapsed or (self._deadline_ms is not None and clock.boot_ms() >= self._deadline_ms)

    async def hold(self, ending: asyncio.Future[Any]) -> None:
        """Extend the child's life until ``ending`` is done, leased calls left out."""
        while not ending.done():
            self._extend_unless_leased()
            await asyncio.wait({ending}, timeout=self._limits.extend_period_s)

    @contextmanager
    def leased(self) -> Iterator[None]:
        """Leave the child ``guard_ms`` from now, and while inside what ``extend_to`` grants."""
        self._extend_unless_leased()
        self._leased_calls += 1
        try:
            yield
        finally:
            self._leased_calls -= 1
            self._extend_unless_leased()

    def extend_to(self, deadline_ms: int) -> None:
        """Set the deadline, in milliseconds since boot, of a child in a leased call; else nothing."""
        if self._leased_calls:
            self._set(deadline_ms)

    def _extend_unless_leased(self) -> None:
        if not self._leased_calls:
            self._set(clock.boot_ms() + self._limits.guard_ms)

    def _set(self, deadline_ms: int) -> None:
        self._has_lapsed = self.has_lapsed
        self._deadline_ms = deadline_ms
        self._tell(deadline_ms)
