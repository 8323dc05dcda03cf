"""A merge, an undo, a preview or its application that is killed at any step is whole or absent."""

import shutil
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from memory.index import build_index
from memory.store import open_store
from tests.support.git_log import show_log
from tests.support.memory import Edits, KillAt, MemoryBase, documents, fenced_task, note
from tests.support.memory_process import apply, commit_edited, in_child, preview, undo

OLD = note("Old", body="\n- one\n- two\n- three\n")
TASK = fenced_task(9)


@dataclass(frozen=True, slots=True)
class Run:
    """A task that is going to be killed.

    Attributes:
        call: runs it, in this process or in a child; takes a checkpoint.
        changed: the documents that it leaves other than they are.
        steps: names of some that it has to reach.
    """

    call: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    changed: Edits
    steps: tuple[str, ...] = ("journal linked", "exchanged", "index renamed", "applied")


def edits_of(base: MemoryBase) -> Edits:
    return {
        base.user / "kept.md": OLD + b"- ours\n",
        base.user / "gone.md": None,
        base.user / "fresh/made.md": note("Made"),
    }


def run_merge(base: MemoryBase) -> Run:
    kept = base.user / "kept.md"
    by_hand: Edits = {kept: OLD.replace(b"- one\n", b"")}
    merged = OLD.replace(b"- one\n", b"") + b"- ours\n"
    edits = edits_of(base)
    return Run(commit_edited, (base, TASK, edits), {"by_hand": by_hand}, edits | {kept: merged})


def run_undo(base: MemoryBase) -> Run:
    before = documents(base)
    base.commit(open_store(base.path), fenced_task(2), edits_of(base))
    changed = {path: before.get(str(path)) for path in edits_of(base)}
    return Run(undo, (base, TASK, "r2"), {}, changed)


def run_preview(base: MemoryBase) -> Run:
    steps = ("previews written", "previews durable", "journal linked", "applied")
    return Run(preview, (base, TASK, edits_of(base)), {}, {}, steps)


def run_apply(base: MemoryBase) -> Run:
    previewed = fenced_task(2)
    preview(base, previewed, edits_of(base))
    return Run(apply, (base, TASK, previewed), {}, edits_of(base))


RUNS = {"merge": run_merge, "undo": run_undo, "preview": run_preview, "apply": run_apply}


class Arranged:
    """A base on which a task is going to run, again and again from the same state."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.base = MemoryBase(folder)
        self._copy = folder / "copy"
        self.base.put(self.base.user / "kept.md", OLD)
        self.base.put(self.base.user / "gone.md", OLD)
        before: Edits = {self.base.user / "a.md": note("A")}
        self.base.commit(open_store(self.base.path), fenced_task(1), before)
        self.run = RUNS[kind](self.base)
        self.old = documents(self.base)
        self.new = left_by(self.run, self.old)
        shutil.copytree(self.base.path, self._copy)

    def call(self, **options: Any) -> None:
        self.run.call(*self.run.arguments, **self.run.options, **options)

    def reset(self) -> None:
        shutil.rmtree(self.base.path)
        shutil.copytree(self._copy, self.base.path)


def left_by(run: Run, old: dict[str, bytes]) -> dict[str, bytes]:
    wanted: dict[str, bytes | None] = {**old, **{str(path): content for path, content in run.changed.items()}}
    return {path: content for path, content in wanted.items() if content is not None}


def steps_of(arranged: Arranged) -> list[str]:
    names: list[str] = []
    arranged.call(checkpoint=names.append)
    assert set(arranged.run.steps) <= set(names)
    return names


def first_and_last(names: list[str]) -> list[tuple[int, str]]:
    """The steps at which each name comes up first and last; test_crash takes every one of a commit."""
    last = {name: step for step, name in enumerate(names)}
    return [
        (step, name) for step, name in enumerate(names) if names.index(name) == step or last[name] == step
    ]


def in_history(base: MemoryBase) -> dict[str, bytes]:
    return {str(base.path / path): content for path, content in show_log(base.path)[-1].files.items()}


@pytest.mark.parametrize("kind", list(RUNS))
def test_killed_at_any_step_a_task_of_any_kind_is_whole_or_absent(tmp_path, kind):
    arranged = Arranged(tmp_path, kind)
    base, run = arranged.base, arranged.run
    by_hand = run.options.get("by_hand", {})
    edited = arranged.old | {str(path): content for path, content in by_hand.items()}

    for step, name in first_and_last(steps_of(arranged)):
        arranged.reset()
        code = in_child(run.call, *run.arguments, **run.options, checkpoint=KillAt(step))
        assert code == -signal.SIGKILL, name
        result = open_store(base.path).seal(TASK)

        found = documents(base)
        assert found == arranged.new if result is not None else found in (arranged.old, edited), name
        if result is None:
            for path in by_hand:
                base.put(path, OLD)  # so that the task reads what it read before
        arranged.call()
        assert documents(base) == arranged.new, name
        assert in_history(base).items() <= arranged.new.items(), name
        assert (base.user / "MEMORY.md").read_text() == build_index(base.user)
        assert not (base.path / "memlane/external").exists(), name
        assert list((base.path / "memlane/tmp").iterdir()) == []
