import errno
import os
import shutil
import signal

from memory.renames import Renames
from memory.store import open_store
from tests.support.memory import KillAt, fenced_task, note, revision
from tests.support.memory_process import commit, in_child, seal


class AlwaysTaken(Renames):
    """A file system on which somebody else is always quicker."""

    def place(self, folder, source, target):
        return False


def test_a_file_that_never_stands_still_is_left_to_the_next_holder(memory_base):
    run = fenced_task()

    result = memory_base.commit(
        open_store(memory_base.path, renames=AlwaysTaken()), run, {memory_base.user / "a.md": note()}
    )

    assert result["revision"] == "r1"  # it has committed, whatever became of placing it
    assert open_store(memory_base.path).seal(run) is not None
    assert (memory_base.user / "a.md").read_bytes() == note()


def test_a_folder_that_was_swapped_away_is_given_back(memory_base):
    path = memory_base.put(memory_base.user / "a.md", note("Old"))
    run = fenced_task()
    code = in_child(commit, memory_base, run, {path: note()}, checkpoint=KillAt(name="part ready"))
    assert code == -signal.SIGKILL
    (temporary,) = memory_base.user.glob(".memlane-*.tmp")
    temporary.rename(path)
    memory_base.put(temporary / "inner.txt", b"mine")

    for _ in range(2):
        assert revision(open_store(memory_base.path).seal(run)) == "r1"
        assert (path / "inner.txt").read_bytes() == b"mine"

    shutil.rmtree(path)
    open_store(memory_base.path).seal(run)
    assert path.read_bytes() == note()
    assert list(memory_base.user.glob(".memlane-*")) == []


def test_a_folder_is_given_back_by_the_next_holder_when_one_died_at_it(memory_base):
    path = memory_base.put(memory_base.user / "a.md", note("Old"))
    run = fenced_task()
    in_child(commit, memory_base, run, {path: note()}, checkpoint=KillAt(name="part ready"))
    (temporary,) = memory_base.user.glob(".memlane-*.tmp")
    temporary.rename(path)
    memory_base.put(temporary / "inner.txt", b"mine")
    code = in_child(seal, memory_base, run, checkpoint=KillAt(name="made room"), native=True)
    assert code == -signal.SIGKILL

    open_store(memory_base.path).seal(run)

    assert (path / "inner.txt").read_bytes() == b"mine"


def test_special_files_that_take_a_documents_place_are_recorded(memory_base):
    path = memory_base.put(memory_base.user / "a.md", note("Old"))

    def swap(name):
        if name == "journal durable":
            path.unlink()
            os.mkfifo(path)

    memory_base.commit(open_store(memory_base.path, checkpoint=swap), fenced_task(), {path: note()})

    assert path.read_bytes() == note()
    assert len(list((memory_base.path / "memlane/external").glob("*.json"))) == 1


def test_a_document_that_vanished_before_its_removal_is_removed(memory_base):
    path = memory_base.put(memory_base.user / "a.md", note("Old"))
    store = open_store(
        memory_base.path, checkpoint=lambda name: path.unlink() if name == "journal durable" else None
    )

    assert memory_base.commit(store, fenced_task(), {path: None})["revision"] == "r1"
    assert not path.exists()


def test_a_folder_deleted_with_its_document_does_not_stop_the_removal(memory_base):
    path = memory_base.put(memory_base.user / "sub/a.md", note("Old"))

    def delete(name):
        if name == "journal durable":
            path.unlink()
            path.parent.rmdir()

    assert (
        memory_base.commit(open_store(memory_base.path, checkpoint=delete), fenced_task(), {path: None})[
            "revision"
        ]
        == "r1"
    )


def test_a_document_is_durable_before_it_takes_its_place(memory_base, monkeypatch):
    synced, ready = set[int](), list[int]()
    fsync = os.fsync

    def note_sync(opened):
        synced.add(os.fstat(opened).st_ino)
        fsync(opened)

    def look(name):
        if name == "part ready":
            ready.extend(path.stat().st_ino for path in memory_base.user.glob(".memlane-*.tmp"))
            assert set(ready) <= synced

    monkeypatch.setattr(os, "fsync", note_sync)
    path = memory_base.user / "a.md"
    memory_base.commit(open_store(memory_base.path, checkpoint=look), fenced_task(), {path: note()})

    assert ready == [path.stat().st_ino]


def test_a_displaced_file_that_somebody_still_writes_to_is_kept_to_his_last_byte(memory_base):
    path = memory_base.put(memory_base.user / "a.md", note("Old"))
    with path.open("r+b") as held_open:
        memory_base.commit(open_store(memory_base.path), fenced_task(), {path: note("Ours")})
        held_open.truncate(0)
        held_open.write(note("Theirs"))

    assert path.read_bytes() == note("Ours")
    (kept,) = (memory_base.path / "memlane/external").glob("*.bytes")
    assert kept.read_bytes() == note("Theirs")
    assert list(memory_base.user.glob(".memlane-*")) == []


def test_a_file_that_is_only_read_is_displaced_as_any_other(memory_base):
    path = memory_base.put(memory_base.user / "a.md", note("Old"))

    with path.open("rb"):
        memory_base.commit(open_store(memory_base.path), fenced_task(), {path: None})

    assert not (memory_base.path / "memlane/external").exists()


def test_on_another_file_system_a_file_that_is_written_to_is_copied(memory_base, monkeypatch):
    path = memory_base.put(memory_base.user / "a.md", note("Old"))
    rename = os.rename

    def refuse_to_leave(source, target, **folders):
        if str(target).endswith(".bytes"):
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        rename(source, target, **folders)

    monkeypatch.setattr(os, "rename", refuse_to_leave)
    with path.open("r+b"):
        memory_base.commit(open_store(memory_base.path), fenced_task(), {path: note("Ours")})

    (kept,) = (memory_base.path / "memlane/external").glob("*.bytes")
    assert kept.read_bytes() == note("Old")
    assert list(memory_base.user.glob(".memlane-*")) == []
