import errno
import os
import stat
from uuid import UUID

import pytest

from memory.beneath import disk_errors
from memory.errors import DocumentInvalid, LeaseLost, StoreBusy, StoreUnusable, TaskClosed, TooLarge
from memory.journal import Intent, Journal
from memory.lock import hold_lock
from memory.paths import find_roots
from memory.store import open_store
from tests.support.memory import BOTH, describe, fenced_task, note, revision, tree
from tests.support.memory_process import commit_under_umask, exit_code, in_child, note_store_id, start_child


@pytest.fixture
def store(memory_base):
    return open_store(memory_base.path)


def test_a_store_keeps_its_id(memory_base, store):
    assert str(UUID(store.store_id)) == store.store_id
    assert open_store(memory_base.path).store_id == store.store_id


def test_two_stores_opened_at_once_have_one_id(memory_base):
    racers = [start_child(note_store_id, memory_base) for _ in range(3)]

    assert [exit_code(racer) for racer in racers] == [0, 0, 0]
    assert len({path.read_text() for path in memory_base.path.glob("id-*")}) == 1


def test_a_commit_answers_with_what_it_did(memory_base, store):
    edits = {
        memory_base.project / "p.md": note("P", kind="project"),
        memory_base.user / "user/tea.md": note(),
    }

    result = memory_base.commit(store, fenced_task(), edits)

    assert result == {
        "revision": "r1",
        "filesTouched": [str(memory_base.user / "user/tea.md"), str(memory_base.project / "p.md")],
        "touchedScopes": ["user", "project"],
    }
    assert (memory_base.user / "user/tea.md").read_bytes() == note()
    assert (memory_base.user / "MEMORY.md").read_text() == "- [Tea](user/tea.md) — about Tea"


def test_a_task_without_changes_has_a_result_and_no_revision(memory_base, store):
    run = fenced_task()

    result = memory_base.commit(store, run, {})

    assert result == {"revision": None, "filesTouched": [], "touchedScopes": []}
    assert store.seal(run) == result


def test_a_stale_fence_is_refused(memory_base, store):
    old, new = fenced_task(1), fenced_task(2)
    store.seal(old)
    transaction = store.begin(old, memory_base.roots, writable=BOTH)
    transaction.write(str(memory_base.user / "a.md"), note())
    store.seal(new)

    with pytest.raises(LeaseLost) as caught:
        store.commit(transaction, result_of=describe)

    assert caught.value.stored_fence == 2
    assert not (memory_base.user / "a.md").exists()
    for call in (lambda: store.seal(old), lambda: store.resolve(old, close=True)):
        with pytest.raises(LeaseLost):
            call()


def test_a_fence_that_was_never_sealed_is_lost(memory_base, store):
    with pytest.raises(LeaseLost) as caught:
        store.commit(memory_base.transaction(), result_of=describe)

    assert caught.value.stored_fence == 0


def test_lanes_do_not_share_fences(memory_base, store):
    store.seal(fenced_task(9, lane="one/../x"))

    memory_base.commit(store, fenced_task(1, lane="one"), {memory_base.user / "a.md": note()})

    assert (memory_base.user / "a.md").exists()


def test_a_closed_task_never_commits(memory_base, store):
    run = fenced_task()
    store.seal(run)
    transaction = store.begin(run, memory_base.roots, writable=BOTH)
    transaction.write(str(memory_base.user / "a.md"), note())

    answers = [store.resolve(run, close=close) for close in (False, True, True)]

    assert answers == [None, None, None]
    for call in (lambda: store.commit(transaction, result_of=describe), lambda: store.seal(run)):
        with pytest.raises(TaskClosed):
            call()
    assert not (memory_base.user / "a.md").exists()


def test_resolving_a_committed_task_gives_its_result(memory_base, store):
    run = fenced_task()
    result = memory_base.commit(store, run, {memory_base.user / "a.md": note()})

    assert store.resolve(run, close=True) == result
    assert store.seal(run) == result


def test_an_invalid_document_is_not_committed(memory_base, store):
    with pytest.raises(DocumentInvalid):
        memory_base.commit(store, fenced_task(), {memory_base.user / "a.md": b"no header"})

    assert tree(memory_base.user) == {}


def test_a_deleted_root_comes_back_with_the_next_commit(memory_base, store):
    memory_base.user.rmdir()

    memory_base.commit(store, fenced_task(), {memory_base.user / "deep/er/a.md": note()})

    assert (memory_base.user / "deep/er/a.md").read_bytes() == note()


def test_a_missing_base_is_never_made(memory_base, store, tmp_path):
    memory_base.path.rename(tmp_path / "unmounted")

    with pytest.raises(StoreUnusable):
        open_store(memory_base.path)
    with pytest.raises(StoreUnusable):
        store.seal(fenced_task())
    assert not memory_base.path.exists()


def test_local_project_memory_commits_beside_the_base(memory_base, store):
    roots = find_roots(memory_base.path, str(memory_base.workspace), local=True)
    run = fenced_task()
    store.seal(run)
    transaction = store.begin(run, roots, writable=BOTH)
    transaction.write(str(roots.project / "a.md"), note())

    store.commit(transaction, result_of=describe)

    assert (memory_base.workspace / ".qwen/memory/a.md").read_bytes() == note()
    assert (memory_base.workspace / ".qwen/memory/MEMORY.md").exists()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_files_are_private_whatever_the_umask(tmp_path, umask):
    (tmp_path / "private").mkdir()
    (tmp_path / "private").chmod(0o700)

    assert in_child(commit_under_umask, tmp_path / "private", umask) == 0
    made = [path for path in (tmp_path / "private/base").rglob("*") if path.name not in {"base", "work"}]
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in made}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_times_in_the_index_are_those_of_the_commit(memory_base, store):
    memory_base.commit(
        store, fenced_task(1), {memory_base.user / "a.md": note("A"), memory_base.user / "b.md": note("B")}
    )

    times = {path.stat().st_mtime_ns for path in (memory_base.user / "a.md", memory_base.user / "b.md")}

    assert len(times) == 1


@pytest.mark.parametrize("kind", ["link", "fifo", "hard link", "folder"])
def test_a_planted_lock_is_refused_without_hanging(memory_base, store, tmp_path, kind):
    lock, target = memory_base.path / "memlane/lock", memory_base.put(tmp_path / "target", b"secret")
    lock.unlink()
    plant = {
        "link": lambda: lock.symlink_to(target),
        "fifo": lambda: os.mkfifo(lock),
        "hard link": lambda: lock.hardlink_to(target),
        "folder": lock.mkdir,
    }
    plant[kind]()

    with pytest.raises(StoreUnusable, match="lock"):
        store.seal(fenced_task())

    assert target.read_bytes() == b"secret"


def test_a_busy_lock_is_waited_for_and_then_given_up(memory_base, store):
    with (
        store._files.open() as folder,
        hold_lock(folder),
        pytest.raises(StoreBusy),
        hold_lock(folder, wait_ms=30),
    ):
        pass


def test_a_lock_file_that_was_deleted_locks_nobody_out_and_nobody_in(memory_base, store):
    with store._files.open() as folder, hold_lock(folder):
        (memory_base.path / "memlane/lock").unlink()
        with hold_lock(folder, wait_ms=30):
            pass


def test_a_lock_held_too_long_stops_its_holder(store):
    with (
        store._files.open() as folder,
        hold_lock(folder, hold_ms=0) as lock,
        pytest.raises(StoreBusy, match="too long"),
    ):
        lock.check()


@pytest.mark.parametrize(
    "name",
    [
        "store-id",
        "state/applied",
        "fences/default%2F0123456789abcdef.json",
        "journal/000000000001.json",
    ],
)
def test_a_damaged_record_is_named(memory_base, store, name):
    run = fenced_task()
    memory_base.commit(store, run, {memory_base.user / "a.md": note()})
    (memory_base.path / "memlane" / name).write_bytes(b"{damaged")

    with pytest.raises(StoreUnusable, match=name.rpartition("/")[2]):
        open_store(memory_base.path).seal(run)


def test_a_lost_mark_does_not_replay_old_commits(memory_base, store):
    for fence in (1, 2):
        memory_base.commit(store, fenced_task(fence), {memory_base.user / "a.md": note(f"A{fence}")})
    (memory_base.path / "memlane/state/applied").unlink()

    with pytest.raises(StoreUnusable, match="behind"):
        store.seal(fenced_task(3))

    assert (memory_base.user / "a.md").read_bytes() == note("A2")


def test_a_missing_journal_entry_is_an_error_and_no_second_run(memory_base, store):
    run = fenced_task()
    memory_base.commit(store, run, {memory_base.user / "a.md": note()})
    (memory_base.path / "memlane/journal/000000000001.json").unlink()

    with pytest.raises(StoreUnusable, match="missing"):
        store.seal(run)


def test_a_record_that_is_a_link_is_refused(memory_base, store, tmp_path):
    planted = memory_base.put(tmp_path / "planted", b'{"fence":99}')
    store.seal(fenced_task(1))
    record = next((memory_base.path / "memlane/fences").iterdir())
    record.unlink()
    record.symlink_to(planted)

    with pytest.raises(StoreUnusable, match="link"):
        store.seal(fenced_task(1))


def test_a_second_writer_under_a_broken_lock_is_noticed(memory_base, store):
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note()})
    journal = Journal(store._files)
    intent = Intent.model_validate_json((memory_base.path / "memlane/journal/000000000001.json").read_bytes())
    journal.draft(intent)

    with pytest.raises(StoreUnusable, match="lock"):
        journal.append(intent)


def test_a_folder_in_place_of_a_document_leaves_the_commit_open_until_it_is_gone(memory_base):
    path = memory_base.user / "a.md"
    run = fenced_task()
    store = open_store(
        memory_base.path, checkpoint=lambda name: path.mkdir() if name == "journal durable" else None
    )

    result = memory_base.commit(store, run, {path: note()})

    assert result["revision"] == "r1"  # after the journal's fsync nothing turns the task into a failure
    assert open_store(memory_base.path).seal(run) == result
    assert path.is_dir()
    path.rmdir()

    assert revision(open_store(memory_base.path).seal(run)) == "r1"
    assert path.read_bytes() == note()


def test_a_link_in_place_of_a_folder_leaves_the_commit_open(memory_base, tmp_path):
    folder, outside = memory_base.user / "sub", tmp_path / "outside"
    outside.mkdir()
    run = fenced_task()

    def swap(name):
        if name == "journal durable":
            folder.rename(tmp_path / "aside")
            folder.symlink_to(outside)

    store = open_store(memory_base.path, checkpoint=swap)

    assert memory_base.commit(store, run, {folder / "a.md": note()})["revision"] == "r1"
    assert not (outside / "a.md").exists()
    folder.unlink()

    assert revision(open_store(memory_base.path).seal(run)) == "r1"
    assert (folder / "a.md").read_bytes() == note()
    assert list(outside.iterdir()) == []


def test_drafts_of_a_crashed_holder_are_swept(memory_base, store):
    draft = memory_base.put(memory_base.path / "memlane/tmp/left-over", b"half")
    index = memory_base.put(memory_base.user / ".memlane-0123.index", b"half")

    memory_base.commit(store, fenced_task(), {memory_base.user / "a.md": note()})

    assert not draft.exists()
    assert not index.exists()


def test_what_the_system_refuses_names_the_thing_and_the_cause():
    with pytest.raises(StoreUnusable, match="the thing: No space left"), disk_errors("the thing"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_commit_that_nobody_could_read_again_is_refused_and_leaves_nothing(memory_base, monkeypatch):
    store, task = open_store(memory_base.path), fenced_task()
    monkeypatch.setattr("memory.journal.MAX_RECORD_BYTES", 100)

    with pytest.raises(TooLarge):
        memory_base.commit(store, task, {memory_base.user / "tea.md": note()})

    assert not (memory_base.user / "tea.md").exists()
    assert store.seal(fenced_task()) is None
