"""What a peer is told: by its environment, as some are started by command lines of their own."""

import os
from pathlib import Path

from bench.diary import Diary
from bench.stopwatch import now_ns

SOCKET = "BENCH_REDIS_SOCKET"
DIARY = "BENCH_DIARY"


def socket_path() -> str:
    """Path of the Redis server's socket."""
    return os.environ[SOCKET]


def url(database: int = 1) -> str:
    """URL of one database, as redis-py reads it."""
    return f"unix://{socket_path()}?db={database}"


class NoTask:
    """The task of all peers: one line in the diary."""

    def __init__(self) -> None:
        self._diary: Diary | None = None

    def __call__(self, workspace: str, seq: int) -> None:
        """Run it; the diary is opened by the first run, in the process that runs it."""
        start_ns = now_ns()
        if self._diary is None:
            self._diary = Diary(Path(os.environ[DIARY]))
        self._diary.note(workspace, seq, start_ns)


run = NoTask()
