"""How a task is waited for and shown."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memlane.cli.exits import Exit
from memlane.client import Client
from memlane.models import DocumentDiff, Preview, Task


def follow(client: Client, task: Task, wait_s: float) -> Task:
    """Wait for a task's end and show its state on the way; an interrupt leaves its id behind.

    Raises:
        WaitTimeout: it has not ended within ``wait_s`` seconds.
        KeyboardInterrupt: after its state was told.
    """
    last = task

    def note(changed: Task) -> None:
        nonlocal last
        last = changed
        show(changed)

    try:
        with _progress() as show:
            show(task)
            return client.wait(task, wait_s, on_change=note)
    except KeyboardInterrupt:
        sys.stderr.write(f"still {last.status}: {last.task_id}\n")
        raise


def tell(task: Task, *, as_json: bool) -> Exit:
    """Print a task and choose the exit code."""
    sys.stdout.write(task.to_json() + "\n" if as_json else _told(task))
    if task.error is None:
        return Exit.OK
    sys.stderr.write(f"memlane: {task.task_id} failed ({task.error.code}): {printable(task.error.message)}\n")
    return Exit.TASK_FAILED


def tell_cancelled(task: Task, *, as_json: bool) -> Exit:
    """Print what became of a task that was to be cancelled; one that ended otherwise is a failure."""
    cancelled = task.outcome == "cancelled"
    word = "cancelled" if cancelled else task.outcome or "told to stop"
    sys.stdout.write(task.to_json() + "\n" if as_json else f"{task.task_id} is {word}\n")
    return Exit.OK if cancelled or not task.finished else Exit.TASK_FAILED


def printable(text: str) -> str:
    """Replace what would steer a terminal; such text comes from a model or another machine."""
    return "".join(character if character.isprintable() else " " for character in text)


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
    turn = (
        f", turn {task.progress.turn} of {task.progress.max_turns}"
        if task.progress and task.progress.turn
        else ""
    )
    return f"{task.task_id} is {task.status}{place}{turn}"


def _told(task: Task) -> str:
    if task.result is None:
        return f"{_state(task)}\n" if task.error is None else ""
    result = task.result
    lines = [result.summary, *(f"  {path}" for path in result.files_touched)]
    lines += [f"  {entry.summary} ({entry.file_path})" for entry in result.removed_entries]
    told = "".join(f"{printable(line)}\n" for line in lines)
    return told if result.preview is None else told + _previewed(result.preview, task.task_id)


def _previewed(preview: Preview, task_id: str) -> str:
    diffs = "".join(diff_text(one) for one in preview.diff)
    return f"{diffs}Nothing has changed. To have it done: memlane apply {task_id}\n" if diffs else ""


def diff_text(one: DocumentDiff) -> str:
    """One document's diff as lines that can't steer a terminal."""
    lines = [f"{one.change} {one.scope}: {one.path}", *one.diff.splitlines()]
    return "".join(f"{printable(line)}\n" for line in lines)
