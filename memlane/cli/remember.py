"""The work of ``memlane remember``."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.acp import MAX_CONTENT_BYTES, ContextMode, Scope
from core.errors import ConfigError
from memlane.cli.exits import Exit
from memlane.client import Client
from memlane.credentials import read_token
from memlane.models import Task


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked of the service; ``text`` ``-`` stands for standard input."""

    text: str
    scope: Scope | None
    context_mode: ContextMode | None
    workspace: str | None


def run(
    request: Request, *, url: str | None, token_file: Path | None, as_json: bool, wait_s: float | None
) -> Exit:
    """Ask, and with ``wait_s`` wait for the end.

    Raises:
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer.
        WaitTimeout: the task has not ended within ``wait_s``.
        ConfigError: the token or the URL can't be used.
    """
    with Client(url, _token(token_file)) as client:
        task = client.remember(
            _text(request.text),
            context_mode=request.context_mode,
            scope=request.scope,
            workspace=request.workspace,
        )
        if wait_s is not None:
            with _progress() as show:
                show(task)
                task = client.wait(task, wait_s, on_change=show)
    sys.stdout.write(
        task.model_dump_json(by_alias=True, exclude_none=True) + "\n" if as_json else _told(task)
    )
    return _judge(task)


def _token(path: Path | None) -> str | None:
    if path is None:
        return None
    token = read_token(path)
    if token is None:
        raise ConfigError(f"there is no token file {path}")
    return token


def _text(given: str) -> str:
    if given != "-":
        return given
    return sys.stdin.buffer.read(2 * MAX_CONTENT_BYTES).decode("utf-8", "replace")


@contextmanager
def _progress() -> Iterator[Callable[[Task], object]]:
    """Yield what shows a task's state on standard error: a spinner on a terminal, else a line for each."""
    if not sys.stderr.isatty():
        yield lambda task: sys.stderr.write(f"{_state(task)}\n")
        return
    from rich.console import Console

    with Console(stderr=True).status("") as status:
        yield lambda task: status.update(_state(task))


def _state(task: Task) -> str:
    place = f", position {task.position}" if task.position else ""
    return f"{task.task_id} is {task.status}{place}"


def _told(task: Task) -> str:
    if task.result is None:
        return f"{_state(task)}\n" if task.error is None else ""
    files = "".join(f"  {_printable(path)}\n" for path in task.result.files_touched)
    return f"{_printable(task.result.summary)}\n{files}"


def _judge(task: Task) -> Exit:
    if task.error is None:
        return Exit.OK
    sys.stderr.write(
        f"memlane: {task.task_id} failed ({task.error.code}): {_printable(task.error.message)}\n"
    )
    return Exit.TASK_FAILED


def _printable(text: str) -> str:
    """Replace what would steer a terminal; the text comes from a model."""
    return "".join(character if character.isprintable() else " " for character in text)
