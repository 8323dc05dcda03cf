"""A commit that is killed at any step leaves the old or the whole new state."""

import signal

import pytest

from memory.index import build_index
from memory.renames import Renames
from memory.store import open_store
from tests.support.memory import KillAt, MemoryBase, describe, documents, fenced_task, note, revision
from tests.support.memory_process import commit, in_child, seal

SLICES = 4
OLD, NEW = note("Old"), note("New")


def edits(memory_base):
    return {
        memory_base.user / "user/kept.md": NEW,
        memory_base.user / "user/gone.md": None,
        memory_base.project / "fresh/folder/made.md": note("Made", kind="project"),
    }


def prepare(memory_base):
    memory_base.put(memory_base.user / "user/kept.md", OLD)
    memory_base.put(memory_base.user / "user/gone.md", OLD)
    before = fenced_task(1, task_id="remember-before")
    open_store(memory_base.path)
    memory_base.commit(
        open_store(memory_base.path), before, {memory_base.project / "a.md": note("A", kind="project")}
    )


def expected(memory_base, old):
    new = dict(old)
    for path, content in edits(memory_base).items():
        new.pop(str(path), None)
        if content is not None:
            new[str(path)] = content
    return new


def steps_of_a_commit(make_memory_base, native):
    memory_base = make_memory_base("count")
    names: list[str] = []
    prepare(memory_base)
    store = open_store(memory_base.path, checkpoint=names.append, renames=Renames(native=native))
    memory_base.commit(store, fenced_task(2), edits(memory_base))
    return names


@pytest.fixture
def make_memory_base(tmp_path):
    def make(name):
        folder = tmp_path / name
        folder.mkdir()
        return MemoryBase(folder)

    return make


@pytest.mark.parametrize("native", [True, False], ids=["renameat2", "hard-links"])
@pytest.mark.parametrize("part", range(SLICES))
def test_killed_at_any_step_a_commit_is_whole_or_absent(make_memory_base, part, native):
    names = steps_of_a_commit(make_memory_base, native)
    assert {"journal linked", "exchanged", "taken away", "index renamed", "applied"} <= set(names)

    for step in range(part, len(names), SLICES):
        memory_base = make_memory_base(f"step-{step}")
        prepare(memory_base)
        old, run = documents(memory_base), fenced_task(2)

        code = in_child(commit, memory_base, run, edits(memory_base), checkpoint=KillAt(step), native=native)
        assert code == -signal.SIGKILL, names[step]
        result = open_store(memory_base.path).seal(run)

        wanted = old if result is None else expected(memory_base, old)
        assert documents(memory_base) == wanted, names[step]
        for root in (memory_base.user, memory_base.project):
            assert (root / "MEMORY.md").read_text() == build_index(root) or result is None
        assert not (memory_base.path / "memlane/external").exists(), names[step]
        assert list((memory_base.path / "memlane/tmp").iterdir()) == []


@pytest.mark.parametrize("native", [True, False], ids=["renameat2", "hard-links"])
def test_killed_again_and_again_during_recovery_it_ends_whole(memory_base, native):
    prepare(memory_base)
    old, run = documents(memory_base), fenced_task(2)

    code = in_child(commit, memory_base, run, edits(memory_base), checkpoint=KillAt(name="journal linked"))
    assert code == -signal.SIGKILL
    codes = [in_child(seal, memory_base, run, checkpoint=KillAt(step), native=native) for step in range(40)]

    assert -signal.SIGKILL in codes
    assert codes[-1] == 0
    assert documents(memory_base) == expected(memory_base, old)
    assert revision(open_store(memory_base.path).seal(run)) == "r2"


def test_a_task_committed_before_the_crash_answers_the_same_again(memory_base):
    store, run = open_store(memory_base.path), fenced_task(1)
    first = memory_base.commit(store, run, {memory_base.user / "a.md": note()})

    again = open_store(memory_base.path).seal(run)

    assert again == first
    transaction = memory_base.transaction(run)
    transaction.write(str(memory_base.user / "b.md"), note("B"))
    assert store.commit(transaction, result_of=describe) == first
    assert not (memory_base.user / "b.md").exists()
