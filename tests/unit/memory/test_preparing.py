"""What may fail is done before the commit, so that it fails the task and leaves nothing."""

import signal

import pytest

from core import clock
from memory.errors import StoreBusy, StoreUnusable
from memory.lock import HOLD_MS
from memory.store import open_store
from tests.support.memory import FailAt, FolderAt, KillAt, fenced_task, note, revision, tree
from tests.support.memory_process import commit, in_child


def edits(memory_base):
    return {memory_base.user / f"sub/{name}.md": note(name) for name in ("a", "b", "c")}


def require_nothing_left(memory_base, run):
    assert open_store(memory_base.path).resolve(run, close=False) is None
    left = tree(memory_base.user, memory_base.path / "memlane/tmp")
    assert [path for path in left if not path.endswith("MEMORY.md")] == []
    assert not list((memory_base.path / "memlane").glob("journal/*"))


@pytest.mark.parametrize(("step", "time"), [("journal written", 0), ("part written", 0), ("part written", 2)])
def test_a_disk_that_is_full_before_the_commit_fails_the_task_and_leaves_nothing(memory_base, step, time):
    run = fenced_task()
    full = open_store(memory_base.path, checkpoint=FailAt(step, time=time))

    with pytest.raises(StoreUnusable, match="No space left"):
        memory_base.commit(full, run, edits(memory_base))

    require_nothing_left(memory_base, run)
    assert revision(memory_base.commit(open_store(memory_base.path), run, edits(memory_base))) == "r1"
    assert (memory_base.user / "sub/c.md").read_bytes() == note("c")


def test_a_folder_in_a_documents_place_before_the_commit_fails_the_task(memory_base):
    run, path = fenced_task(), memory_base.user / "sub/b.md"
    store = open_store(memory_base.path, checkpoint=FolderAt("planned", path))

    with pytest.raises(StoreUnusable, match="folder"):
        memory_base.commit(store, run, edits(memory_base))

    require_nothing_left(memory_base, run)


def test_a_folder_in_the_place_of_a_document_to_be_removed_fails_the_task(memory_base):
    run, path = fenced_task(), memory_base.put(memory_base.user / "a.md", note())

    def swap(name):
        if name == "planned":
            path.unlink()
            path.mkdir()

    with pytest.raises(StoreUnusable, match="folder"):
        memory_base.commit(open_store(memory_base.path, checkpoint=swap), run, {path: None})

    require_nothing_left(memory_base, run)


def test_a_root_that_is_no_folder_before_the_commit_fails_the_task(memory_base):
    run, root = fenced_task(), memory_base.user

    def swap(name):
        if name == "planned":
            root.rmdir()
            root.write_text("no folder")

    with pytest.raises(StoreUnusable, match="not a folder"):
        memory_base.commit(open_store(memory_base.path, checkpoint=swap), run, edits(memory_base))

    root.unlink()
    require_nothing_left(memory_base, run)


def test_files_of_a_commit_that_was_killed_before_it_committed_are_removed_by_the_next_holder(memory_base):
    run = fenced_task()
    code = in_child(commit, memory_base, run, edits(memory_base), checkpoint=KillAt(name="part written"))
    assert code == -signal.SIGKILL
    assert list(memory_base.user.glob("sub/.memlane-*.part"))

    open_store(memory_base.path).seal(fenced_task(lane="default/another"))

    require_nothing_left(memory_base, run)


def test_a_journal_entry_that_was_killed_half_written_is_swept(memory_base):
    store = open_store(memory_base.path)
    memory_base.put(memory_base.path / "memlane/tmp/0123.intent", b'{"version":1,"seq":1,"ta')

    store.seal(fenced_task())

    assert tree(memory_base.path / "memlane/tmp") == {}


def test_files_of_a_killed_commit_whose_folder_is_gone_stop_nobody(memory_base, tmp_path):
    run = fenced_task()
    in_child(commit, memory_base, run, edits(memory_base), checkpoint=KillAt(name="part written"))
    (memory_base.user / "sub").rename(tmp_path / "aside")
    (memory_base.user / "sub").write_text("in the way")

    assert open_store(memory_base.path).seal(run) is None
    assert tree(memory_base.path / "memlane/tmp") == {}


class LateAt:
    """Checkpoint at which the lock has been held too long, until ``give_back``."""

    def __init__(self, name, monkeypatch) -> None:
        self.name = name
        self.clock = monkeypatch
        self.boot_ms = clock.boot_ms

    def __call__(self, name):
        if name == self.name:
            self.clock.setattr(clock, "boot_ms", lambda: self.boot_ms() + HOLD_MS)

    def give_back(self):
        self.clock.setattr(clock, "boot_ms", self.boot_ms)


def test_a_holder_whose_time_is_over_before_the_commit_commits_nothing(memory_base, monkeypatch):
    run, late = fenced_task(), LateAt("part written", monkeypatch)

    with pytest.raises(StoreBusy):
        memory_base.commit(open_store(memory_base.path, checkpoint=late), run, edits(memory_base))

    late.give_back()
    require_nothing_left(memory_base, run)


def test_a_holder_whose_time_is_over_after_the_commit_leaves_the_rest_to_the_next(memory_base, monkeypatch):
    run, late = fenced_task(), LateAt("journal durable", monkeypatch)
    path = memory_base.user / "sub/a.md"

    result = memory_base.commit(open_store(memory_base.path, checkpoint=late), run, edits(memory_base))

    assert result["revision"] == "r1"
    assert not path.exists()
    assert not (memory_base.path / "memlane/state/applied").exists()
    late.give_back()
    assert open_store(memory_base.path).seal(run) == result
    assert path.read_bytes() == note("a")


@pytest.mark.parametrize("change", ["text", "link", "gone"])
def test_a_prepared_file_that_somebody_touched_is_written_anew(memory_base, tmp_path, change):
    secret = memory_base.put(tmp_path / "secret.md", note("Secret"))

    def touch(name):
        if name == "journal durable":
            (part,) = memory_base.user.glob(".memlane-*.part")
            part.unlink()
            if change == "text":
                part.write_bytes(note("Forged"))
            elif change == "link":
                part.symlink_to(secret)

    path = memory_base.user / "a.md"
    memory_base.commit(open_store(memory_base.path, checkpoint=touch), fenced_task(), {path: note("Ours")})

    assert path.read_bytes() == note("Ours")
    assert not path.is_symlink()
    assert list(memory_base.user.glob(".memlane-*")) == []


def test_a_document_that_became_right_by_itself_leaves_no_prepared_file(memory_base):
    path = memory_base.user / "a.md"

    def write(name):
        if name == "journal durable":
            path.write_bytes(note("Ours"))

    memory_base.commit(open_store(memory_base.path, checkpoint=write), fenced_task(), {path: note("Ours")})

    assert path.read_bytes() == note("Ours")
    assert list(memory_base.user.glob(".memlane-*")) == []
