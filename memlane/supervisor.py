"""Keep a few processes running, restart what crashes, stop all of them in order.

Everything happens on the main thread: the kernel ties children to the thread that started them, see tether.
"""

import contextlib
import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait

from core import clock
from core.errors import DependencyError, MemlaneError
from core.logs import get_logger
from memlane.reaping import reap_killed
from memlane.stop_signals import StopSignals

CONFIG_ERROR_STATUS = 2
_PROBE_PERIOD_MS = 50
_FIRST_PAUSE_MS = 100
_LONGEST_PAUSE_MS = 10_000
_STABLE_MS = 20_000

_log = get_logger(__name__)


class StartFailed(DependencyError):
    """Not everything was ready in time. All parts were stopped."""

    code = "start_failed"


class PartRefused(DependencyError):
    """A part ended with a configuration error, which it has told already. All parts were stopped."""

    code = "part_refused"


@dataclass(frozen=True, slots=True)
class Part:
    """One process to keep running.

    Attributes:
        spawn: starts it in a session of its own.
        grace_s: time from SIGTERM to SIGKILL, seconds.
        before_stop: called once the parts after it have stopped and while it still runs.
    """

    name: str
    spawn: Callable[[], subprocess.Popen[bytes]]
    grace_s: float
    before_stop: Callable[[], None] | None = None


@dataclass(frozen=True, slots=True)
class StartCondition:
    """When the whole counts as started.

    Attributes:
        probe: asked every 50 ms until it says yes.
        announce: called once then.
        limit_s: longest wait, seconds.
    """

    probe: Callable[[], bool]
    announce: Callable[[], None]
    limit_s: float


class Supervisor:
    """Runs parts until SIGINT or SIGTERM."""

    def __init__(self, parts: Sequence[Part], *, stable_ms: int = _STABLE_MS) -> None:
        """Take the parts in the order of their start; they stop in the opposite one.

        Args:
            stable_ms: a part that ran for so long is forgiven its earlier crashes, milliseconds.
        """
        self._parts = [_Supervised(part, stable_ms=stable_ms) for part in parts]
        self._ready = False

    def run(self, condition: StartCondition, signals: StopSignals) -> None:
        """Start all parts and keep them running; returns once a signal came and all have ended.

        A part that ends is started again, at first after 0.1 s, then ever later, up to 10 s. A second
        signal while parts stop ends them at once.

        Raises:
            PartRefused: a part ended with status 2 before all were ready.
            StartFailed: ``condition`` did not say yes in time.
        """
        signals.stop_interrupting()
        try:
            self._watch(condition, signals)
        finally:
            for supervised in reversed(self._parts):
                supervised.stop(signals)

    def _watch(self, condition: StartCondition, signals: StopSignals) -> None:
        deadline_ms = clock.boot_ms() + int(condition.limit_s * 1000)
        while not signals.asked:
            for supervised in self._parts:
                supervised.start_if_due()
            self._probe(condition, deadline_ms)
            wait([signals.bell, *self._pidfds()], self._pause_s())
            self._reap()

    def _probe(self, condition: StartCondition, deadline_ms: int) -> None:
        if self._ready:
            return
        if condition.probe():
            self._ready = True
            condition.announce()
        elif clock.boot_ms() > deadline_ms:
            raise StartFailed(f"memlane was not ready within {condition.limit_s:g} s; see the messages above")

    def _reap(self) -> None:
        for supervised in self._parts:
            status = supervised.reap_if_ended()
            if status is None:
                continue
            if status == CONFIG_ERROR_STATUS and not self._ready:
                raise PartRefused(f"memlane {supervised.part.name} could not start; see the message above")
            supervised.plan_restart(status)

    def _pidfds(self) -> list[int]:
        return [supervised.pidfd for supervised in self._parts if supervised.pidfd >= 0]

    def _pause_s(self) -> float | None:
        pauses = [supervised.due_in_ms() for supervised in self._parts if supervised.pidfd < 0]
        if not self._ready:
            pauses.append(_PROBE_PERIOD_MS)
        return min(pauses) / 1000 if pauses else None


class _Supervised:
    """A part and the process that runs it at the moment."""

    def __init__(self, part: Part, *, stable_ms: int) -> None:
        self.part = part
        self._stable_ms = stable_ms
        self.pidfd = -1  # readable once the process has ended
        self._process: subprocess.Popen[bytes] | None = None
        self._started_ms = 0
        self._due_ms = 0
        self._crashes = 0
        self.has_run = False

    def start_if_due(self) -> None:
        if self._process is not None or self.due_in_ms() > 0:
            return
        try:
            self._process = self.part.spawn()
        except (MemlaneError, OSError) as error:
            if not self.has_run:
                raise
            self._due_ms = clock.boot_ms() + _LONGEST_PAUSE_MS  # what was there once may come back
            _log.error("part_not_started", part=self.part.name, reason=str(error))
            return
        self.has_run = True
        self.pidfd = os.pidfd_open(self._process.pid)
        self._started_ms = clock.boot_ms()

    def due_in_ms(self) -> int:
        return max(0, self._due_ms - clock.boot_ms())

    def reap_if_ended(self) -> int | None:
        """Collect an ended process; returns its status, None while it runs."""
        if self._process is None or not wait([self.pidfd], 0):
            return None
        return self._collect(self._process)

    def plan_restart(self, status: int) -> None:
        if clock.boot_ms() - self._started_ms >= self._stable_ms:
            self._crashes = 0
        pause_ms = min(_FIRST_PAUSE_MS << min(self._crashes, 10), _LONGEST_PAUSE_MS)
        self._crashes += 1
        self._due_ms = clock.boot_ms() + pause_ms
        _log.warning("part_ended", part=self.part.name, status=status, restart_in_ms=pause_ms)

    def stop(self, signals: StopSignals) -> None:
        """End the process, if there is one, and what it left in its session; at once when hurried."""
        if self._process is None:
            return
        try:
            if self.part.before_stop is not None:
                self.part.before_stop()
        finally:
            self._end(self._process, signals)

    def _end(self, process: subprocess.Popen[bytes], signals: StopSignals) -> None:
        process.terminate()
        deadline_ms = clock.boot_ms() + int(self.part.grace_s * 1000)
        while not wait([self.pidfd], 0) and not signals.hurried and clock.boot_ms() < deadline_ms:
            wait([self.pidfd, signals.bell], max(0, deadline_ms - clock.boot_ms()) / 1000)
            signals.drain()
        self._collect(process)

    def _collect(self, process: subprocess.Popen[bytes]) -> int | None:
        # before the wait, while the id can't belong to another process yet
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        status = reap_killed(process, name=self.part.name)
        os.close(self.pidfd)
        self.pidfd = -1
        self._process = None
        return status
