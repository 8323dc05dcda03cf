"""What ran when: one line a task, written with one write(2). Standard library only, as peers write it too."""

import os
from pathlib import Path

from bench.stopwatch import now_ns


class Diary:
    """An append-only file that many processes and threads share; lines never mix."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def note(self, workspace: str, seq: int, start_ns: int) -> None:
        """Write that a task ran from ``start_ns`` until now.

        Args:
            workspace: name without white space.
            seq: the task's number in its workspace, in the order of submission.
        """
        os.write(self._descriptor, f"{workspace} {seq} {start_ns} {now_ns()}\n".encode())
