"""Processes of one measurement: started together, held, let go, ended; none outlives it."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

from bench.stopwatch import now_ns
from core.errors import StateError
from core.settings import changed_environment
from memlane.tether import tethered

ROOT = Path(__file__).parents[1]
POLL_S = 0.01
_never = Event()  # a wait on it is a pause


class NotInTime(StateError):
    """What a measurement waited for did not come; the message says what, and where its log lies."""

    code = "bench_not_in_time"


class Fleet:
    """The worker processes of one system, each leader of its own group."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> int:
        """Start a process in the repository's root; it ends with this one. Returns its id."""
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                tethered(command),
                env=changed_environment(dict(environment)),
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._processes.append(process)
        return process.pid

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all processes and what they have started."""
        for process in self._processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)

    def cpu_s(self) -> float:
        """CPU time of all that runs in the processes' groups, seconds; see ``cpu_s``."""
        groups = {process.pid for process in self._processes}
        return sum(cpu_s(pid) for pid in _running() if _group_of(pid) in groups)

    def rss_kib(self) -> int:
        """Resident memory of all that runs in the processes' groups, KiB; what they share counts in each."""
        groups = {process.pid for process in self._processes}
        return sum(_rss_kib(pid) for pid in _running() if _group_of(pid) in groups)

    def end(self, *, grace_s: float = 5.0) -> None:
        """Stop all: SIGTERM to each leader, SIGKILL to its group after ``grace_s`` seconds."""
        for process in self._processes:
            process.terminate()
        deadline_ns = now_ns() + int(grace_s * 1e9)
        for process in self._processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.0, (deadline_ns - now_ns()) / 1e9))
        self.kill()

    def kill(self) -> None:
        """End all at once and reap them."""
        self.signal(signal.SIGKILL)
        for process in self._processes:
            process.wait()
        self._processes.clear()


@contextmanager
def running_fleet(log: Path) -> Iterator[Fleet]:
    """An empty fleet for the body; whatever it started is gone afterwards."""
    fleet = Fleet(log)
    try:
        yield fleet
    finally:
        fleet.kill()


def wait_for(condition: Callable[[], bool], *, what: str, limit_s: float) -> None:
    """Look every 10 ms until the condition holds.

    Raises:
        NotInTime: it did not within ``limit_s`` seconds.
    """
    deadline_ns = now_ns() + int(limit_s * 1e9)
    while not condition():
        if now_ns() > deadline_ns:
            raise NotInTime(f"{what} did not happen within {limit_s:g} s")
        pause(POLL_S)


def pause(seconds: float) -> None:
    """Let time pass: the load's rhythm or a window to measure in."""
    _never.wait(seconds)


def _running() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _group_of(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return os.getpgid(pid)
    return None


def _rss_kib(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def cpu_s(pid: int) -> float:
    """CPU time that a process has used so far, user and system, seconds; proc(5)."""
    _, _, rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    fields = rest.split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
