"""Calls that wait for their turn on one thread, and those that are called off before it comes."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from agent.cancellation import CalledOff, Cancellation


class Cancellable(Protocol):
    """What a line may hold."""

    @property
    def cancellation(self) -> Cancellation:
        """How it is called off."""
        ...


_C = TypeVar("_C", bound=Cancellable)


@dataclass(frozen=True, slots=True)
class Withdrawal(Generic[_C]):
    """What calling off came to.

    Attributes:
        waiting: calls that were taken out of the line; whoever called off answers them.
        is_running: whether the call that runs was meant; who runs it answers it.
    """

    waiting: tuple[_C, ...]
    is_running: bool

    def __bool__(self) -> bool:
        return self.is_running or bool(self.waiting)


class CallLine(Generic[_C]):
    """First in, first out; one thread takes, any thread puts and withdraws."""

    def __init__(self, max_waiting: int) -> None:
        self._max_waiting = max_waiting
        self._waiting: deque[_C] = deque()
        self._running: _C | None = None
        self._is_open = True
        self._changed = threading.Condition()

    @property
    def is_busy(self) -> bool:
        """Whether a call is running or waiting."""
        with self._changed:
            return self._running is not None or bool(self._waiting)

    def put(self, call: _C) -> bool:
        """Add a call at the end; False, and nothing is added, when as many as may be wait already."""
        with self._changed:
            if len(self._waiting) >= self._max_waiting:
                return False
            self._waiting.append(call)
            self._changed.notify()
            return True

    def take(self, *, timeout_s: float | None = None) -> _C | None:
        """Wait for the next call, which runs from now on until ``finish``.

        Args:
            timeout_s: None waits for ever.

        Returns:
            None when the time is over, or no call waits and none will come.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._is_open, timeout_s)
            if not self._waiting:
                return None
            self._running = self._waiting.popleft()
            return self._running

    def finish(self) -> None:
        """Tell that the call which runs has been answered."""
        with self._changed:
            self._running = None

    def close(self) -> None:
        """Tell that no call will come any more; those that wait are still given out."""
        with self._changed:
            self._is_open = False
            self._changed.notify()

    def withdraw(self, is_meant: Callable[[_C], bool], *, named: CalledOff) -> Withdrawal[_C]:
        """Call off every call that is meant, running or waiting.

        Args:
            named: what the client named, the task or the request.
        """
        with self._changed:
            waiting = tuple(call for call in self._waiting if is_meant(call))
            self._waiting = deque(call for call in self._waiting if not is_meant(call))
            running = (self._running,) if self._running is not None and is_meant(self._running) else ()
        for call in (*waiting, *running):
            call.cancellation.set(named)
        return Withdrawal(waiting, is_running=bool(running))
