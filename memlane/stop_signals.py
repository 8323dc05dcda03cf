"""The signals that ask `memlane up` to stop, from its first moment on."""

import contextlib
import signal
import socket
from types import FrameType, TracebackType
from typing import Self

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopSignals:
    """Counts SIGINT and SIGTERM while entered; for the main thread.

    The first one interrupts what runs, unless the body said that it waits on ``bell`` itself. An interrupt
    can get lost (Python drops what is raised in a finaliser or a weak reference's callback); the count can't.

    Attributes:
        bell: readable once a signal came, until ``drain``.
    """

    def __init__(self) -> None:
        self.bell, self._hammer = socket.socketpair()
        self._count = 0
        self._interrupts = True
        self._before: dict[signal.Signals, object] = {}
        self._hammer_before = -1

    def __enter__(self) -> Self:
        self.bell.settimeout(0)
        self._hammer.settimeout(0)
        self._hammer_before = signal.set_wakeup_fd(self._hammer.fileno())
        self._before = {number: signal.signal(number, self._react) for number in STOP_SIGNALS}
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._interrupts = False
        signal.set_wakeup_fd(self._hammer_before)
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type] # it is what signal.signal returned
        self.bell.close()
        self._hammer.close()

    @property
    def asked(self) -> bool:
        """Whether a stop was asked for."""
        return self._count > 0

    @property
    def hurried(self) -> bool:
        """Whether it was asked for again."""
        return self._count > 1

    def stop_interrupting(self) -> None:
        """From now on signals only count and ring."""
        self._interrupts = False

    def drain(self) -> None:
        """Make the bell quiet again."""
        with contextlib.suppress(BlockingIOError):
            self.bell.recv(4096)

    def _react(self, _signal: int, _frame: FrameType | None) -> None:
        self._count += 1
        if self._interrupts:
            self._interrupts = False  # what the interrupt lets end shall end undisturbed
            raise KeyboardInterrupt
