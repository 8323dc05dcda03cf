"""Submits to a peer, round-robin over workspaces: `python -m bench.peers.load NAME WORKSPACES TASKS_EACH`."""

import importlib
import sys
from collections.abc import Iterator


def jobs_of(workspaces: int, tasks_each: int) -> Iterator[tuple[str, int]]:
    """All tasks in the order of submission: the first of each workspace, then the second, and so on."""
    for seq in range(tasks_each):
        for number in range(workspaces):
            yield f"w{number}", seq


def warm_up_jobs(count: int) -> list[tuple[str, int]]:
    """Tasks that show that the workers are up; their workspace counts for nothing."""
    return [("warm", seq) for seq in range(count)]


if __name__ == "__main__":
    name, workspaces, tasks_each = sys.argv[1:]
    app = importlib.import_module(f"bench.peers.{name}_app")
    count = int(workspaces)
    app.send_all(list(jobs_of(count, int(tasks_each))) if count else warm_up_jobs(int(tasks_each)))
