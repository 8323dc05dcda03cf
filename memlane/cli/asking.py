"""The work of the commands that ask a service for a task and show it."""

import sys
from collections.abc import Callable

from core.acp import MAX_CONTENT_BYTES
from memlane.cli.connection import Place, connected
from memlane.cli.exits import Exit
from memlane.cli.task_output import follow, tell
from memlane.client import Client
from memlane.models import Task


def run(
    ask: Callable[[Client], Task],
    place: Place,
    *,
    as_json: bool,
    wait_s: float | None,
    show: Callable[..., Exit] = tell,
) -> Exit:
    """Get a task by ``ask``, with ``wait_s`` wait for its end, and ``show`` it.

    Raises:
        NotFound: no such task for this client.
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
        WaitTimeout: the task has not ended within ``wait_s``.
        ConfigError: the token or the URL can't be used.
    """
    with connected(place) as client:
        task = ask(client)
        if wait_s is not None and not task.finished:
            task = follow(client, task, wait_s)
    return show(task, as_json=as_json)


def text_of(given: str) -> str:
    """The text of an argument; ``-`` stands for standard input."""
    if given != "-":
        return given
    return sys.stdin.buffer.read(2 * MAX_CONTENT_BYTES).decode("utf-8", "replace")
