"""Calling a call off from another thread than the one that runs it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

from agent.errors import TaskCancelled

CalledOff = Literal["task", "request"]  # by what the caller named


class Cancellation:
    """Set from any thread, once and for good; who runs the call looks at it between its steps."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._named: CalledOff | None = None
        self._wake: Callable[[], object] = _do_nothing

    @property
    def named(self) -> CalledOff | None:
        """What was called off first, the task or the request; None while nothing was."""
        return self._named

    def set(self, named: CalledOff) -> None:
        """Call off, and wake who waits; a second time does nothing."""
        with self._lock:
            if self._named is None:
                self._named = named
                self._wake()

    def check(self) -> None:
        """Go on only while the call is wanted.

        Raises:
            TaskCancelled: it was called off.
        """
        if self._named is not None:
            raise TaskCancelled("it was called off")

    @contextmanager
    def waking(self, wake: Callable[[], object]) -> Iterator[None]:
        """Have ``wake`` called, once at most and from the thread that calls off, while the block runs.

        Args:
            wake: called at once if the call was called off before; must neither block nor raise.
        """
        with self._lock:
            self._wake = wake
            if self._named is not None:
                wake()
        try:
            yield
        finally:
            with self._lock:
                self._wake = _do_nothing


def _do_nothing() -> None:
    pass
