"""What is seen of memory before and after a task whose agent writes there by itself, and what is kept."""

import os
from pathlib import Path

import pytest

from memory.errors import StoreUnusable, TooLarge
from tests.support.direct_tasks import Lane
from tests.support.memory import MemoryBase, fenced_task, note


def test_what_is_no_document_any_more_is_neither_told_nor_touched(
    lane: Lane, memory_base: MemoryBase, tea: Path
):
    other = memory_base.put(memory_base.user / "other.md", note("Other"))
    target = memory_base.put(memory_base.path / "target", b"elsewhere")
    huge = memory_base.put(memory_base.user / "huge.md", b"x" * 300_000)
    task = lane.begin()
    tea.unlink()
    tea.symlink_to(target)
    other.write_bytes(b"y" * 300_000)
    huge.write_bytes(note("Small now"))

    assert lane.record(task)["filesTouched"] == []
    assert (tea.is_symlink(), other.stat().st_size, target.read_bytes()) == (True, 300_000, b"elsewhere")


def test_a_name_that_is_no_text_is_left_alone(lane: Lane, memory_base: MemoryBase):
    odd = os.fsencode(memory_base.user) + b"/\xff.md"
    memory_base.user.mkdir(exist_ok=True)
    task = lane.begin()
    Path(os.fsdecode(odd)).write_bytes(note())

    assert lane.record(task)["filesTouched"] == []


def test_a_purge_takes_the_texts_of_snapshots_too(lane: Lane, memory_base: MemoryBase, tea: Path):
    task = lane.begin()
    other = fenced_task(lane="default/ffffffffffffffff")
    memory_base.commit(lane.store, other, {tea: None})
    lane.store.purge(other, [("user", "user/tea.md")], memory_base.roots)

    (snapshot,) = (memory_base.path / "memlane" / "snapshots").iterdir()
    assert b"Likes tea" not in snapshot.read_bytes()
    assert lane.record(task)["filesTouched"] == []


def test_a_purge_spares_the_project_of_another_workspace(lane: Lane, memory_base: MemoryBase, tmp_path: Path):
    theirs = MemoryBase(tmp_path, workspace="other")
    path = memory_base.put(memory_base.project / "ci.md", note("CI"))
    changed = theirs.put(theirs.project / "ci.md", note("CI"))
    other = Lane(theirs, lane="default/ffffffffffffffff")
    task = other.begin()
    memory_base.commit(lane.store, fenced_task(9), {path: None})
    lane.store.purge(fenced_task(9), [("project", "ci.md")], memory_base.roots)
    changed.write_bytes(note("CI anew"))

    assert other.record(task)["filesTouched"] == [str(changed)]


def test_a_memory_too_large_for_a_snapshot_begins_no_task(lane: Lane, tea: Path, monkeypatch):
    monkeypatch.setattr("memory.snapshots.MAX_RECORD_BYTES", 50)

    with pytest.raises(TooLarge):
        lane.begin()
    monkeypatch.undo()
    assert lane.begin()


def test_a_snapshot_goes_with_its_task(lane: Lane, memory_base: MemoryBase):
    lane.record(lane.begin())
    lane.close(lane.begin())

    assert list((memory_base.path / "memlane" / "snapshots").iterdir()) == []


def test_a_document_that_may_have_been_there_unseen_is_not_told_as_new(lane: Lane, memory_base: MemoryBase):
    folder = memory_base.user / "elsewhere"
    folder.symlink_to(memory_base.path)
    task = lane.begin()
    folder.unlink()
    memory_base.put(folder / "tea.md", note())

    assert lane.record(task)["filesTouched"] == []


def test_a_root_that_was_swapped_for_a_link_is_not_looked_into(
    lane: Lane, memory_base: MemoryBase, tea: Path
):
    task = lane.begin()
    away = memory_base.user.rename(memory_base.path / "away")
    memory_base.user.symlink_to(away)

    for end in (lane.record, lane.close):
        with pytest.raises(StoreUnusable):
            end(task)
    memory_base.user.unlink()
    away.rename(memory_base.user)
    assert lane.record(task)["filesTouched"] == []
