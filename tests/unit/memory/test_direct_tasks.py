"""Tasks whose agent writes to the roots by itself: all that it did is found, committed once, and undone."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memory.errors import LeaseLost, RevisionPruned, StoreUnusable, TaskClosed
from memory.files import StoreFiles
from memory.index import build_index
from memory.journal import Journal, PlannedChange
from memory.revisions import Revisions
from memory.store import open_store
from tests.support.direct_tasks import Lane, write
from tests.support.git_log import show_log
from tests.support.memory import FailAt, MemoryBase, documents, fenced_task, note, revision


def test_what_the_agent_did_is_one_commit_of_the_task(lane: Lane, memory_base: MemoryBase, tea: Path):
    pinned = memory_base.put(memory_base.project / "pinned" / "rule.md", note("Rule"))
    new = memory_base.project / "project" / "coffee.md"

    task = lane.begin()
    write({tea: None, new: note("Coffee"), pinned: note("Other rule")})
    result = lane.record(task)

    (found,) = Revisions(memory_base.path).page(memory_base.roots, limit=9).revisions
    assert (found.id, found.task, found.kind, found.client) == ("r1", task.id, "remember", "tester")
    assert set(found.documents) == {
        ("user", "user/tea.md"),
        ("project", "pinned/rule.md"),
        ("project", "project/coffee.md"),
    }
    assert result["touchedScopes"] == ["user", "project"]
    assert [one.subject for one in show_log(memory_base.path)] == [
        "external: found by r1",
        "r1 remember: Saved it.",
    ]
    assert (memory_base.project / "MEMORY.md").read_text() == build_index(memory_base.project)


def test_recording_writes_to_no_document(lane: Lane, tea: Path):
    task = lane.begin()
    write({tea: note("Coffee")})
    before = tea.stat()

    lane.record(task)

    assert (tea.stat().st_ino, tea.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


NAMES = st.sampled_from(["user/a.md", "user/b.md", "c.md", "deep/er/d.md"])
TEXTS = (
    st.none() | st.sampled_from(["one", "two", "three"]).map(lambda text: note(text)) | st.binary(max_size=9)
)
FILES = st.dictionaries(st.tuples(st.sampled_from(["user", "project"]), NAMES), TEXTS)


@settings(max_examples=15, deadline=None)
@given(before=FILES, after=FILES)
def test_whatever_the_agent_did_the_revision_tells_it_and_its_undo_brings_the_bytes_back(before, after):
    with TemporaryDirectory() as folder:
        base = MemoryBase(Path(folder).resolve())
        lane = Lane(base)
        write(
            {getattr(base, scope) / path: text for (scope, path), text in before.items() if text is not None}
        )
        found = documents(base)

        task = lane.begin()
        wanted = {getattr(base, scope) / path: text for (scope, path), text in after.items()}
        write({path: text for path, text in wanted.items() if text is not None or path.exists()})
        left = documents(base)
        result = lane.record(task)

        changed = {path for path in {*found, *left} if found.get(path) != left.get(path)}
        assert set(result["filesTouched"]) == changed
        if not changed:
            assert result["revision"] is None
            return
        shown = Revisions(base.path).diff("r1", base.roots)
        assert {str(base.roots.of(one.scope) / one.path) for one in shown} == changed
        lane.undo("r1")
        assert documents(base) == found


EDITS = st.lists(st.tuples(NAMES, TEXTS), max_size=5)


@example(
    before=[],
    between=[("user/a.md", note("two"))],
    after=[("user/a.md", None)],
    late=[("user/a.md", note("two"))],
)
@settings(max_examples=12, deadline=None)
@given(before=EDITS, between=EDITS, after=EDITS, late=EDITS)
def test_of_two_tasks_at_once_no_edit_is_lost_and_none_is_told_twice(before, between, after, late):
    with TemporaryDirectory() as folder:
        base = MemoryBase(Path(folder).resolve())
        one, other = Lane(base), Lane(base, lane="default/ffffffffffffffff")
        edit(base, before)
        found = documents(base)

        first = one.begin()
        edit(base, between)
        second, met = other.begin(), documents(base)
        edit(base, after)
        base.commit(one.store, fenced_task(lane="default/eeeeeeeeeeeeeeee"), {base.user / "own.md": note()})
        one.record(first)
        edit(base, late)
        other.close(second)

        told: dict[str, bytes | None] = {}
        for change in committed(base):
            path = str(base.path / change.root / change.path)
            assert change.before == told.get(path, change.before)
            told[path] = change.new
        known = {path: text for path, text in (found | told).items() if text is not None}
        left = documents(base)
        # what the first took back itself, and stands at the end as the second met it, is no work of either
        as_met = {path for path in {*known, *left} - told.keys() if left.get(path) == met.get(path)}
        assert {path: text for path, text in known.items() if path not in as_met} == {
            path: text for path, text in left.items() if path not in as_met
        }


def committed(base: MemoryBase) -> list[PlannedChange]:
    """Every change in the journal, oldest first."""
    journal = Journal(StoreFiles(base.path))
    return [change for seq in range(journal.newest_seq()) for change in journal.entry(seq + 1).changes]


def edit(base: MemoryBase, edits) -> None:
    """Write the user's documents, as whoever writes by himself."""
    for name, text in edits:
        if text is not None or (base.user / name).exists():
            write({base.user / name: text})


def test_a_task_that_has_begun_can_not_begin_again_nor_commit_otherwise(lane: Lane, memory_base: MemoryBase):
    task = lane.begin()

    with pytest.raises(TaskClosed):
        lane.tasks.begin(replace(task, fence=2), memory_base.roots)
    with pytest.raises(TaskClosed):
        lane.store.seal(replace(task, fence=3))


def test_a_recorded_task_gives_its_result_whoever_asks(lane: Lane, memory_base: MemoryBase, tea: Path):
    task = lane.begin()
    write({tea: note("Coffee")})
    result = lane.record(task)
    write({tea: note("Cocoa")})

    assert lane.record(task) == result
    assert lane.tasks.begin(task, memory_base.roots) == result
    assert lane.store.seal(task) == result
    assert lane.close(task) is None
    assert len(lane.store.resolve(task, close=True) or {}) == len(result)


def test_a_task_that_changed_nothing_records_its_result_without_a_revision(
    lane: Lane, memory_base: MemoryBase
):
    task = lane.begin()

    assert revision(lane.record(task)) is None
    assert Revisions(memory_base.path).page(memory_base.roots, limit=9).revisions == ()


def test_what_a_failed_task_left_is_committed_in_its_name_and_is_no_result(lane: Lane, tea: Path):
    task = lane.begin()
    write({tea: note("Coffee")})

    left = lane.close(replace(task, client=None))

    assert left is not None
    assert (left.revision, left.touched_scopes, left.files_touched) == ("r1", ("user",), (tea,))
    assert lane.close(task) == left
    assert lane.tasks.has_begun(task.id)
    assert lane.store.resolve(task, close=True) is None
    with pytest.raises(TaskClosed):
        lane.record(task)
    (found,) = Revisions(lane.base.path).page(lane.base.roots, limit=9).revisions
    assert (found.task, found.client) == (task.id, "tester")
    lane.undo("r1")
    assert tea.read_bytes() == note()


def test_a_failed_task_that_left_nothing_makes_no_commit(lane: Lane, tea: Path):
    task = lane.begin()

    assert lane.close(task) is None
    write({tea: note("Coffee")})
    assert lane.close(task) is None
    with pytest.raises(TaskClosed):
        lane.record(task)


def test_a_task_that_never_began_is_not_closed(lane: Lane):
    task = fenced_task()

    assert not lane.tasks.has_begun(task.id)
    assert lane.close(task) is None
    assert lane.store.seal(task) is None
    with pytest.raises(TaskClosed):
        lane.record(task)


def test_what_another_lane_commits_meanwhile_stays_its_own(lane: Lane, memory_base: MemoryBase, tea: Path):
    milk = memory_base.user / "user" / "milk.md"
    task = lane.begin()
    other = fenced_task(lane="default/ffffffffffffffff")
    memory_base.commit(lane.store, other, {tea: None, milk: note("Milk")})
    write({milk: note("Oat milk"), memory_base.user / "new.md": note("New")})

    lane.record(task)

    (ours, theirs) = Revisions(memory_base.path).page(memory_base.roots, limit=9).revisions
    assert (theirs.task, ours.task) == (other.id, task.id)
    assert set(ours.documents) == {("user", "user/milk.md"), ("user", "new.md")}
    lane.undo("r2")
    assert milk.read_bytes() == note("Milk")


def test_what_the_agent_brought_back_after_anothers_commit_is_its_change(
    lane: Lane, memory_base: MemoryBase, tea: Path
):
    task = lane.begin()
    memory_base.commit(lane.store, fenced_task(lane="default/ffffffffffffffff"), {tea: None})
    write({tea: note()})

    assert lane.record(task)["filesTouched"] == [str(tea)]


def test_a_holder_that_was_overtaken_records_nothing(lane: Lane, memory_base: MemoryBase, tea: Path):
    task = lane.begin()
    write({tea: note("Coffee")})
    later = fenced_task(9)
    lane.store.seal(later)

    for late in (lane.record, lane.close):
        with pytest.raises(LeaseLost):
            late(task)
    with pytest.raises(LeaseLost):
        lane.tasks.begin(fenced_task(8), memory_base.roots)
    left = lane.close(replace(task, fence=9))
    assert left is not None
    assert left.files_touched == (tea,)


@pytest.mark.parametrize("step", ["snapshots written", "snapshots renamed", "tasks written"])
def test_a_beginning_that_was_cut_short_is_none(memory_base: MemoryBase, tea: Path, step: str):
    broken = Lane(memory_base, store=open_store(memory_base.path, checkpoint=FailAt(step)))
    task = fenced_task()
    with pytest.raises(StoreUnusable):
        broken.tasks.begin(task, memory_base.roots)
    write({tea: note("Somebody else's")})
    lane = Lane(memory_base)

    assert lane.close(task) is None
    assert lane.tasks.begin(replace(task, fence=2), memory_base.roots) is None


@pytest.mark.parametrize("step", ["journal durable", "applied", "tasks durable", "state durable"])
def test_a_record_that_was_cut_short_is_finished_by_the_next_holder(
    memory_base: MemoryBase, tea: Path, step: str
):
    task = Lane(memory_base).begin()
    write({tea: note("Coffee")})
    cut = Lane(memory_base, store=open_store(memory_base.path, checkpoint=FailAt(step)))
    with suppress(StoreUnusable):  # after the journal's fsync nothing fails the task
        cut.record(task)

    result = Lane(memory_base).record(task)

    assert result["filesTouched"] == [str(tea)]
    assert len(Revisions(memory_base.path).page(memory_base.roots, limit=9).revisions) == 1


def test_a_task_whose_record_was_cut_short_leaves_no_snapshot_once_it_is_resolved(
    memory_base: MemoryBase, tea: Path
):
    task = Lane(memory_base).begin()
    write({tea: note("Coffee")})
    cut = Lane(memory_base, store=open_store(memory_base.path, checkpoint=FailAt("journal durable")))
    with suppress(StoreUnusable):
        cut.record(task)

    assert Lane(memory_base).close(task) is None

    assert list((memory_base.path / "memlane/snapshots").iterdir()) == []


def test_a_change_too_large_for_the_journal_is_told_without_its_texts(lane: Lane, tea: Path, monkeypatch):
    task = lane.begin()
    write({tea: note(body="x" * 10_000)})
    monkeypatch.setattr("memory.journal.MAX_RECORD_BYTES", 5_000)

    result = lane.record(task)

    assert (result["summary"], result["filesTouched"]) == ("Saved it.", [str(tea)])
    with pytest.raises(RevisionPruned):
        lane.undo("r1")
