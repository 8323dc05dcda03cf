"""The work of ``memlane remember``."""

import sys
from dataclasses import dataclass

from core.acp import MAX_CONTENT_BYTES, ContextMode, Scope
from memlane.cli.connection import Place, connected
from memlane.cli.exits import Exit
from memlane.cli.task_output import follow, tell


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the service; ``text`` ``-`` stands for standard input."""

    text: str
    scope: Scope | None
    context_mode: ContextMode | None


def run(request: Request, place: Place, *, as_json: bool, wait_s: float | None) -> Exit:
    """Ask, and with ``wait_s`` wait for the end.

    Raises:
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
        WaitTimeout: the task has not ended within ``wait_s``.
        ConfigError: the token or the URL can't be used.
    """
    with connected(place) as client:
        task = client.remember(
            _text(request.text),
            context_mode=request.context_mode,
            scope=request.scope,
            workspace=place.workspace,
        )
        if wait_s is not None:
            task = follow(client, task, wait_s)
    return tell(task, as_json=as_json)


def _text(given: str) -> str:
    if given != "-":
        return given
    return sys.stdin.buffer.read(2 * MAX_CONTENT_BYTES).decode("utf-8", "replace")
