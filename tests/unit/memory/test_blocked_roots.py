"""A commit that can't be brought to its place blocks its root, and nothing else."""

import json

import pytest

from memory.errors import StoreBusy, StoreUnusable
from memory.renames import Renames
from memory.store import open_store
from tests.support.memory import BOTH, FolderAt, MemoryBase, describe, fenced_task, note, revision


@pytest.fixture
def other(memory_base, tmp_path):
    """Another workspace on the same base."""
    return MemoryBase(tmp_path, workspace="other")


@pytest.fixture
def store(memory_base):
    return open_store(memory_base.path)


def block(memory_base, path, more=None):
    """Commit a document in whose place a folder stands by then."""
    store = open_store(memory_base.path, checkpoint=FolderAt("journal durable", path))
    run = fenced_task(lane=f"default/{memory_base.workspace.name}")
    result = memory_base.commit(store, run, {path: note("Blocked", kind="project"), **(more or {})})
    assert path.is_dir()
    return run, result


def journaled(memory_base):
    return sorted(path.name for path in (memory_base.path / "memlane/journal").iterdir())


def test_a_commit_without_a_place_stops_no_lane_on_other_roots(memory_base, other, store):
    block(memory_base, memory_base.project / "a.md")
    first, second = fenced_task(1, lane="default/one"), fenced_task(2, lane="default/one")

    result = other.commit(store, first, {other.project / "b.md": note("B"), other.user / "u.md": note("U")})

    assert result["revision"] == "r2"
    assert (other.project / "b.md").read_bytes() == note("B")
    assert (other.user / "MEMORY.md").read_text() == "- [U](u.md) — about U"
    assert store.resolve(first, close=True) == result
    assert store.seal(second) is None
    assert store.resolve(second, close=True) is None
    assert journaled(memory_base) == ["000000000001.json", "000000000002.json"]


def test_the_task_that_has_no_place_answers_its_recorded_result(memory_base, store):
    run, result = block(memory_base, memory_base.project / "a.md")
    again = memory_base.transaction(run)
    again.write(str(memory_base.user / "b.md"), note("B"))

    assert result["revision"] == "r1"
    assert store.seal(run) == result
    assert store.resolve(run, close=True) == result
    assert store.commit(again, result_of=describe) == result


def test_a_commit_to_a_blocked_root_is_refused_until_the_earlier_one_has_its_place(memory_base, store):
    path = memory_base.project / "a.md"
    block(memory_base, path)
    run = fenced_task()
    store.seal(run)
    transaction = store.begin(run, memory_base.roots, writable=BOTH)
    transaction.write(str(memory_base.project / "b.md"), note("B"))

    with pytest.raises(StoreUnusable, match="earlier commit"):
        store.commit(transaction, result_of=describe)

    assert store.resolve(run, close=False) is None
    assert journaled(memory_base) == ["000000000001.json"]
    path.rmdir()
    assert revision(store.commit(transaction, result_of=describe)) == "r2"
    assert path.read_bytes() == note("Blocked", kind="project")
    assert (memory_base.project / "b.md").read_bytes() == note("B")


def test_a_task_that_may_write_to_blocked_roots_only_is_refused_before_it_runs(memory_base, store):
    path = memory_base.project / "a.md"
    block(memory_base, path)
    run = fenced_task()
    store.seal(run)

    with pytest.raises(StoreUnusable, match="earlier commit"):
        store.begin(run, memory_base.roots, writable=frozenset({"project"}))

    for writable in (BOTH, frozenset({"user"}), frozenset()):
        store.begin(run, memory_base.roots, writable=writable)
    path.rmdir()
    store.seal(run)
    store.begin(run, memory_base.roots, writable=frozenset({"project"}))


def test_a_root_that_an_intent_has_reached_goes_on_and_is_not_set_back(memory_base, other, store):
    path, shared = memory_base.project / "a.md", memory_base.user / "u.md"
    run, _ = block(memory_base, path, {shared: note("First")})
    assert shared.read_bytes() == note("First")

    later = fenced_task(lane="default/one")
    store.seal(later)
    transaction = store.begin(later, other.roots, writable=BOTH)
    transaction.read(str(shared))
    transaction.write(str(shared), note("Second"))
    store.commit(transaction, result_of=describe)
    path.rmdir()

    assert revision(store.seal(run)) == "r1"
    assert path.read_bytes() == note("Blocked", kind="project")
    assert shared.read_bytes() == note("Second")
    assert not (memory_base.path / "memlane/external").exists()


def test_several_commits_can_wait_for_their_places_at_once(memory_base, other, store):
    paths = [memory_base.project / "a.md", other.project / "a.md"]
    runs = [block(base, path)[0] for base, path in zip([memory_base, other], paths, strict=True)]
    assert [revision(store.seal(run)) for run in runs] == ["r1", "r2"]

    paths[1].rmdir()
    store.seal(runs[0])
    assert [path.is_file() for path in paths] == [False, True]
    paths[0].rmdir()
    store.seal(runs[1])

    assert [path.is_file() for path in paths] == [True, True]
    assert json.loads((memory_base.path / "memlane/state/applied").read_bytes()) == {"seq": 2, "open": []}


def test_a_try_that_changes_nothing_writes_nothing(memory_base, store):
    run, _ = block(memory_base, memory_base.project / "a.md")
    names: list[str] = []

    open_store(memory_base.path, checkpoint=names.append).seal(run)

    assert names == ["applied"]


class AlwaysTaken(Renames):
    """A file system on which somebody else is always quicker."""

    def place(self, folder, source, target):
        return False


def test_a_root_that_is_blocked_by_a_busy_file_is_refused_as_busy(memory_base):
    store = open_store(memory_base.path, renames=AlwaysTaken())
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note()})

    with pytest.raises(StoreBusy, match="keeps changing"):
        memory_base.commit(store, fenced_task(2), {memory_base.user / "b.md": note("B")})


def test_a_root_that_became_a_file_blocks_itself_only(memory_base, other, store, tmp_path):
    root = memory_base.project

    def replace(name):
        if name == "journal durable":
            root.rename(tmp_path / "aside")
            root.write_text("no folder")

    broken = open_store(memory_base.path, checkpoint=replace)
    memory_base.commit(broken, fenced_task(), {root / "a.md": note()})
    assert root.is_file()

    other.commit(store, fenced_task(lane="default/one"), {other.project / "b.md": note("B")})
    root.unlink()
    store.seal(fenced_task(lane="default/one"))

    assert (other.project / "b.md").read_bytes() == note("B")
    assert (root / "a.md").read_bytes() == note()


def test_a_lost_journal_entry_of_an_open_commit_is_named(memory_base, store):
    run, _ = block(memory_base, memory_base.project / "a.md")
    (memory_base.path / "memlane/journal/000000000001.json").unlink()

    with pytest.raises(StoreUnusable, match="entry 1 is missing"):
        store.seal(run)
