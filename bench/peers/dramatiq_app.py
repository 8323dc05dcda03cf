"""Raw dramatiq with its defaults. Arguments of a worker: threads, worker timeout in ms, hold in s."""

import signal
import sys
import threading
from collections.abc import Sequence
from typing import Any

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from bench.peers import target


def make_actor(url: str, *, hold_s: float = 0.0) -> Any:
    """The no-op actor on a broker of its own; ``actor.send(workspace, seq)`` submits."""
    broker = RedisBroker(url=url)
    pause = threading.Event()

    def noop(workspace: str, seq: int) -> None:
        target.run(workspace, seq)
        pause.wait(hold_s)

    return dramatiq.actor(broker=broker, actor_name="noop", queue_name="noop")(noop)


def work(threads: str, timeout_ms: str, hold_s: str = "0") -> None:
    """Run one worker process until SIGTERM."""
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    actor = make_actor(target.url(), hold_s=float(hold_s))
    worker = dramatiq.Worker(actor.broker, worker_timeout=int(timeout_ms), worker_threads=int(threads))
    worker.start()
    stopping.wait()
    worker.stop()


def send_all(jobs: Sequence[tuple[str, int]]) -> None:
    """Submit tasks."""
    actor = make_actor(target.url())
    for workspace, seq in jobs:
        actor.send(workspace, seq)


if __name__ == "__main__":
    work(*sys.argv[1:])
