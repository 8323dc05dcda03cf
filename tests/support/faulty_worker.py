"""The real worker process with one fault composed in.

Run in the repository's root as ``python -m tests.support.faulty_worker FAULT``.
"""

import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from core import clock
from core.acp import TaskMeta
from core.settings import export_engine_settings

SHORT_TIME_MS = 1_000

export_engine_settings()

_fault = pytest.MonkeyPatch()  # for the life of this process


def command(fault: str) -> list[str]:
    """The command of a worker with a fault of ``FAULTS``, or ``clock:<ms>`` for one whose clock is off."""
    return [sys.executable, "-m", "tests.support.faulty_worker", fault]


def _die(*_args: Any, **_kwargs: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def dies_before_finish() -> None:
    """It dies when a task has ended, before it says so."""
    for way in ("finish_if_current", "finish_and_claim"):
        _fault.setattr(f"jobs.lanes.Lanes.{way}", _die)


def dies_before_ring() -> None:
    """It dies after an end is written, before the doorbell for the next task is rung; its turns are short."""
    _fault.setattr("jobs.actors.LaneRunner._is_over", lambda *_: True)
    _fault.setattr("jobs.broker.Doorbell.ring", _die)


def unguarded() -> None:
    """Its children have no guard, so that they go on while it is paused."""

    def bare(words: Sequence[str], **_guard: int) -> list[str]:
        return list(words)

    _fault.setattr("acp_bridge.process.guarded", bare)


def impatient() -> None:
    """Tasks get a second."""

    def brief(**facts: Any) -> TaskMeta:
        return TaskMeta(timeout_ms=SHORT_TIME_MS, **facts)

    _fault.setattr("jobs.runs.TaskMeta", brief)


FAULTS: dict[str, Callable[[], None]] = {
    "dies_before_finish": dies_before_finish,
    "dies_before_ring": dies_before_ring,
    "unguarded": unguarded,
    "impatient": impatient,
}


def shift_clock(ms: int) -> None:
    """This host's wall clock is off, for us and for dramatiq."""
    true_ms = clock.wall_ms

    def shifted_ms() -> int:
        return true_ms() + ms

    ours = ("core.clock.wall_ms", "jobs.requirements.wall_ms")
    engine = ("dramatiq.common", "dramatiq.worker", "dramatiq.brokers.redis")
    for target in (*ours, *(f"{module}.current_millis" for module in engine)):
        _fault.setattr(target, shifted_ms)


def main(fault: str) -> int:
    from memlane.cli import worker

    name, _, number = fault.partition(":")
    if name == "clock":
        shift_clock(int(number))
    else:
        FAULTS[name]()
    return worker.run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
