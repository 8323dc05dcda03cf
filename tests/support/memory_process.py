"""Memory that processes of their own work on.

They are forked from a server process without threads, which has everything imported: a test kills dozens.
"""

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from core.acp import Scope
from memory.errors import CommitConflict
from memory.files import Checkpoint, do_nothing
from memory.renames import Renames
from memory.store import FencedTask, Store, open_store
from tests.support.memory import BOTH, Edits, MemoryBase, describe, fenced_task, note

LIMIT_S = 60.0

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload([__name__, "memory.git_repository"])


def start_child(work: Callable[..., object], *arguments: Any, **options: Any) -> ForkServerProcess:
    """Start ``work``, a function of a module, in a process of its own."""
    child = _context.Process(target=work, args=arguments, kwargs=options, daemon=True)
    child.start()
    return child


def exit_code(child: ForkServerProcess) -> int | None:
    """Wait for a child: 0, 1 after an exception, minus the number of the signal that ended it."""
    child.join(LIMIT_S)
    code = child.exitcode
    child.close()
    return code


def in_child(work: Callable[..., object], *arguments: Any, **options: Any) -> int | None:
    """Run ``work`` in a process of its own to its end."""
    return exit_code(start_child(work, *arguments, **options))


def commit(
    base: MemoryBase,
    task: FencedTask,
    edits: Edits,
    *,
    checkpoint: Checkpoint = do_nothing,
    native: bool = True,
) -> None:
    """Open the store and commit one task."""
    store = open_store(base.path, checkpoint=checkpoint, renames=Renames(native=native))
    base.commit(store, task, edits)


def commit_edited(
    base: MemoryBase, task: FencedTask, edits: Edits, *, by_hand: Edits, checkpoint: Checkpoint = do_nothing
) -> dict[str, Any]:
    """Commit one task; somebody else makes edits of his own when it has read."""
    store = open_store(base.path, checkpoint=checkpoint)
    recorded = store.seal(task)
    if recorded is not None:
        return recorded
    transaction = base.stage(store, task, edits)
    for path, content in by_hand.items():
        path.unlink() if content is None else base.put(path, content)
    return store.commit(transaction, result_of=describe)


def undo(
    base: MemoryBase, task: FencedTask, revision: str, *, checkpoint: Checkpoint = do_nothing
) -> dict[str, Any]:
    """Open the store and take a revision back."""
    store = open_store(base.path, checkpoint=checkpoint)
    return store.seal(task) or store.undo(task, revision, base.roots, result_of=describe)


def preview(
    base: MemoryBase, task: FencedTask, edits: Edits, *, checkpoint: Checkpoint = do_nothing
) -> dict[str, Any]:
    """Open the store and preview one task."""
    store = open_store(base.path, checkpoint=checkpoint)
    return store.seal(task) or store.preview(base.stage(store, task, edits), result_of=describe)


def apply(
    base: MemoryBase, task: FencedTask, previewed: FencedTask, *, checkpoint: Checkpoint = do_nothing
) -> dict[str, Any]:
    """Open the store and apply the preview of another task."""
    store = open_store(base.path, checkpoint=checkpoint)
    return store.seal(task) or store.apply(
        task, previewed.id, base.roots, result_of=lambda commit, _: describe(commit)
    )


def seal(base: MemoryBase, task: FencedTask, *, checkpoint: Checkpoint, native: bool) -> None:
    """Open the store and take a task's lane over."""
    open_store(base.path, checkpoint=checkpoint, renames=Renames(native=native)).seal(task)


def show_history(base: MemoryBase, *, checkpoint: Checkpoint) -> None:
    """Open the store and bring its history further."""
    open_store(base.path, checkpoint=checkpoint).show_history()


def prune(base: MemoryBase, *, before_ms: int, checkpoint: Checkpoint) -> None:
    """Open the store and take old texts from it."""
    open_store(base.path, checkpoint=checkpoint).prune(before_ms=before_ms)


def purge(
    base: MemoryBase,
    task: FencedTask,
    document: tuple[Scope, str],
    *,
    checkpoint: Checkpoint,
    native: bool = True,
) -> None:
    """Open the store and purge one document."""
    store = open_store(base.path, checkpoint=checkpoint, renames=Renames(native=native))
    store.purge(task, {document}, base.roots)


def note_store_id(base: MemoryBase) -> None:
    """Open the store and leave its id in a file beside it."""
    (base.path / f"id-{os.getpid()}").write_text(open_store(base.path).store_id)


def commit_under_umask(folder: Path, umask: int) -> None:
    """Make a base and commit one document, all under this umask."""
    os.umask(umask)
    base = MemoryBase(folder)
    commit(base, fenced_task(), {base.user / "sub/a.md": note()})


def commit_several(base: MemoryBase, lane: str, *, count: int) -> None:
    """Commit so many tasks of one lane, each with a document of its own."""
    store = open_store(base.path)
    for number in range(count):
        task = fenced_task(number + 1, lane=f"default/{lane}")
        base.commit(store, task, {base.user / f"{lane}/n{number}.md": note(f"{lane} {number}")})


def append_lines(base: MemoryBase, path: Path, mark: str, *, count: int) -> None:
    """Add so many lines to one document, a task each, every conflict tried again."""
    store = open_store(base.path)
    for fence in range(1, count + 1):
        task = fenced_task(fence, lane=f"default/{mark}")
        store.seal(task)
        while not _appended(base, store, task, path, line=f"- {mark} {fence}\n"):
            pass


def _appended(base: MemoryBase, store: Store, task: FencedTask, path: Path, *, line: str) -> bool:
    transaction = store.begin(task, base.roots, writable=BOTH)
    transaction.write(str(path), transaction.read(str(path)) + line.encode())
    try:
        store.commit(transaction, result_of=describe)
    except CommitConflict:
        return False
    return True


def swap_names(folder: Path, one: str, other: str, *, count: int) -> None:
    """Exchange two names of a folder again and again."""
    descriptor = os.open(folder, os.O_RDONLY)
    for _ in range(count):
        Renames().exchange(descriptor, one, other, backup="unused")
