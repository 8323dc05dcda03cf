"""Builders for tests of the memory package: real bases, real stores, real processes."""

import errno
import os
import signal
from pathlib import Path
from typing import Any

from core.acp import Scope
from core.ids import Kind, LaneId, TaskId, new_task_id
from memory.document import MemoryType, render_document
from memory.names import INDEX_NAME
from memory.paths import PROJECTS_NAME, USER_ROOT_NAME, Roots, find_roots
from memory.store import Commit, FencedTask, Store
from memory.transaction import Transaction

LANE = LaneId("default/0123456789abcdef")
Edits = dict[Path, bytes | None]
BOTH: frozenset[Scope] = frozenset({"user", "project"})


class MemoryBase:
    """A memory base with the roots of one workspace; others of the same folder share the base."""

    def __init__(self, folder: Path, *, workspace: str = "work") -> None:
        self.path = folder / "base"
        self.workspace = folder / workspace
        self.path.mkdir(parents=True, exist_ok=True)
        self.workspace.mkdir()
        self.roots: Roots = find_roots(self.path, str(self.workspace))
        self.user = self.roots.user
        self.project = self.roots.project

    def put(self, path: Path, content: bytes) -> Path:
        """Write a file as a foreign writer does."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def transaction(self, task: FencedTask | None = None) -> Transaction:
        return Transaction(task or fenced_task(), self.roots, writable=BOTH)

    def commit(self, store: Store, task: FencedTask, edits: Edits) -> dict[str, Any]:
        """Seal, edit and commit as one task."""
        recorded = store.seal(task)
        if recorded is not None:
            return recorded
        return store.commit(self.stage(store, task, edits), result_of=describe)

    def stage(self, store: Store, task: FencedTask, edits: Edits) -> Transaction:
        """Begin a task that has sealed, with its edits staged."""
        transaction = store.begin(task, self.roots, writable=BOTH)
        for path, content in edits.items():
            if content is None:
                transaction.remove(str(path))
            else:
                transaction.write(str(path), content)
        return transaction


def fenced_task(
    fence: int = 1, *, task_id: str | None = None, lane: str = LANE, kind: Kind = "remember"
) -> FencedTask:
    return FencedTask(TaskId(task_id or new_task_id(kind)), LaneId(lane), fence, kind, "tester")


def note(name: str = "Tea", *, kind: MemoryType = "user", body: str = "\nLikes tea.\n") -> bytes:
    return render_document(type=kind, name=name, description=f"about {name}", body=body)


def describe(commit: Commit) -> dict[str, Any]:
    return {
        "revision": commit.revision,
        "filesTouched": [str(path) for path in commit.files_touched],
        "touchedScopes": list(commit.touched_scopes),
    }


def revision(result: dict[str, Any] | None) -> str | None:
    """Revision of a recorded result; no result is a failure here."""
    assert result is not None
    found: str | None = result["revision"]
    return found


def documents(base: MemoryBase) -> dict[str, bytes]:
    """Bytes of every document of a base by path, temporary files included, indexes left out."""
    found = tree(base.user, base.project)
    return {path: content for path, content in found.items() if not path.endswith("/MEMORY.md")}


def tree(*folders: Path) -> dict[str, bytes]:
    """Every file below the folders with its bytes, temporary files included."""
    return {
        str(path): path.read_bytes()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def documents_below(base: Path) -> list[Path]:
    """Every document in the roots below a base, indexes left out.

    Only the roots are walked: a service at work makes and removes folders in the store beside them.
    """
    return sorted(
        path
        for folder in (USER_ROOT_NAME, PROJECTS_NAME)
        for path in (base / folder).rglob("*.md")
        if path.name != INDEX_NAME
    )


class FailAt:
    """Checkpoint at which the disk is full: the n-th time that a step of this name is reached, from 0."""

    def __init__(self, name: str, *, time: int = 0) -> None:
        self.name = name
        self.left = time

    def __call__(self, name: str) -> None:
        if name == self.name:
            self.left -= 1
            if self.left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class FolderAt:
    """Checkpoint at which somebody puts a folder in the place of a document, once."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path

    def __call__(self, name: str) -> None:
        if name == self.name and not self.path.exists():
            self.path.mkdir(parents=True)


class KillAt:
    """Checkpoint that kills its own process at the n-th step, counted from 0, or at the first of a name."""

    def __init__(self, step: int = 0, *, name: str | None = None) -> None:
        self.left = step
        self.name = name

    def __call__(self, name: str) -> None:
        if self.name not in (None, name):
            return
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1
