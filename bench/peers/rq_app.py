"""RQ with its worker that does not fork for each task (the forking one is some five times slower)."""

from collections.abc import Sequence

import redis
from rq import Queue, SimpleWorker

from bench.peers import target


def open_queue() -> Queue:
    """The one queue."""
    return Queue("noop", connection=redis.Redis.from_url(target.url()))


def send_all(jobs: Sequence[tuple[str, int]]) -> None:
    """Submit tasks."""
    queue = open_queue()
    for workspace, seq in jobs:
        queue.enqueue(target.run, workspace, seq, result_ttl=0)


if __name__ == "__main__":
    queue = open_queue()
    SimpleWorker([queue], connection=queue.connection).work(logging_level="WARNING")
