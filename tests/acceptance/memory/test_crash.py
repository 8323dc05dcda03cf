"""A commit that is killed at any step leaves the old or the whole new state."""

from functools import partial

import pytest

from memory.index import build_index
from memory.renames import Renames
from memory.store import open_store
from tests.support.memory import Bench, KillAt, describe, in_child, note, revision, task_run, tree

SLICES = 4
OLD, NEW = note("Old"), note("New")


def edits(bench):
    return {
        bench.user / "user/kept.md": NEW,
        bench.user / "user/gone.md": None,
        bench.project / "fresh/folder/made.md": note("Made", kind="project"),
    }


def prepare(bench):
    bench.put(bench.user / "user/kept.md", OLD)
    bench.put(bench.user / "user/gone.md", OLD)
    before = task_run(1, task="remember-before")
    open_store(bench.base)
    bench.commit(open_store(bench.base), before, {bench.project / "a.md": note("A", kind="project")})


def documents(bench):
    return {path: text for path, text in tree(bench.user, bench.project).items() if "MEMORY.md" not in path}


def expected(bench, old):
    new = dict(old)
    for path, content in edits(bench).items():
        new.pop(str(path), None)
        if content is not None:
            new[str(path)] = content
    return new


def steps_of_a_commit(make_bench, native):
    bench = make_bench("count")
    names: list[str] = []
    prepare(bench)
    store = open_store(bench.base, checkpoint=names.append, renames=Renames(native=native))
    bench.commit(store, task_run(2), edits(bench))
    return names


@pytest.fixture
def make_bench(tmp_path):
    def make(name):
        folder = tmp_path / name
        folder.mkdir()
        return Bench(folder)

    return make


@pytest.mark.parametrize("native", [True, False], ids=["renameat2", "hard-links"])
@pytest.mark.parametrize("part", range(SLICES))
def test_killed_at_any_step_a_commit_is_whole_or_absent(make_bench, part, native):
    names = steps_of_a_commit(make_bench, native)
    assert {"journal linked", "exchanged", "taken away", "index renamed", "applied"} <= set(names)

    for step in range(part, len(names), SLICES):
        bench = make_bench(f"step-{step}")
        prepare(bench)
        old, run = documents(bench), task_run(2)

        def die(bench=bench, run=run, step=step):
            store = open_store(bench.base, checkpoint=KillAt(step), renames=Renames(native=native))
            bench.commit(store, run, edits(bench))

        assert in_child(die) == -9, names[step]
        result = open_store(bench.base).seal(run)

        wanted = old if result is None else expected(bench, old)
        assert documents(bench) == wanted, names[step]
        for root in (bench.user, bench.project):
            assert (root / "MEMORY.md").read_text() == build_index(root) or result is None
        assert not (bench.base / "memlane/external").exists(), names[step]
        assert list((bench.base / "memlane/tmp").iterdir()) == []


@pytest.mark.parametrize("native", [True, False], ids=["renameat2", "hard-links"])
def test_killed_again_and_again_during_recovery_it_ends_whole(bench, native):
    prepare(bench)
    old, run = documents(bench), task_run(2)

    def die_after_the_journal():
        def kill_at_link(name):
            if name == "journal linked":
                KillAt(0)(name)

        bench.commit(open_store(bench.base, checkpoint=kill_at_link), run, edits(bench))

    def recover(step):
        open_store(bench.base, checkpoint=KillAt(step), renames=Renames(native=native)).seal(run)

    assert in_child(die_after_the_journal) == -9
    codes = [in_child(partial(recover, step)) for step in range(40)]

    assert -9 in codes
    assert codes[-1] == 0
    assert documents(bench) == expected(bench, old)
    assert revision(open_store(bench.base).seal(run)) == "r2"


def test_a_task_committed_before_the_crash_answers_the_same_again(bench):
    store, run = open_store(bench.base), task_run(1)
    first = bench.commit(store, run, {bench.user / "a.md": note()})

    again = open_store(bench.base).seal(run)

    assert again == first
    transaction = bench.transaction(run)
    transaction.write(str(bench.user / "b.md"), note("B"))
    assert store.commit(transaction, result_of=describe) == first
    assert not (bench.user / "b.md").exists()
