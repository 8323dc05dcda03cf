import errno
import os
import stat
from uuid import UUID

import pytest

from memory.beneath import reporting
from memory.errors import DocumentInvalid, LeaseLost, StoreBusy, StoreUnusable, TaskClosed
from memory.journal import Intent, Journal
from memory.lock import hold_lock
from memory.paths import find_roots
from memory.store import open_store
from tests.support.memory import BOTH, Bench, describe, in_child, note, revision, task_run, tree


@pytest.fixture
def store(bench):
    return open_store(bench.base)


def test_a_store_keeps_its_id(bench, store):
    assert str(UUID(store.store_id)) == store.store_id
    assert open_store(bench.base).store_id == store.store_id


def test_two_stores_opened_at_once_have_one_id(bench):
    def race():
        (bench.base / f"id-{os.getpid()}").write_text(open_store(bench.base).store_id)

    assert [in_child(race) for _ in range(3)] == [0, 0, 0]
    assert len({path.read_text() for path in bench.base.glob("id-*")}) == 1


def test_a_commit_answers_with_what_it_did(bench, store):
    edits = {bench.project / "p.md": note("P", kind="project"), bench.user / "user/tea.md": note()}

    result = bench.commit(store, task_run(), edits)

    assert result == {
        "revision": "r1",
        "filesTouched": [str(bench.user / "user/tea.md"), str(bench.project / "p.md")],
        "touchedScopes": ["user", "project"],
    }
    assert (bench.user / "user/tea.md").read_bytes() == note()
    assert (bench.user / "MEMORY.md").read_text() == "- [Tea](user/tea.md) — about Tea"


def test_a_task_without_changes_has_a_result_and_no_revision(bench, store):
    run = task_run()

    result = bench.commit(store, run, {})

    assert result == {"revision": None, "filesTouched": [], "touchedScopes": []}
    assert store.seal(run) == result


def test_a_stale_fence_is_refused(bench, store):
    old, new = task_run(1), task_run(2)
    store.seal(old)
    transaction = store.begin(old, bench.roots, writable=BOTH)
    transaction.write(str(bench.user / "a.md"), note())
    store.seal(new)

    with pytest.raises(LeaseLost) as caught:
        store.commit(transaction, result_of=describe)

    assert caught.value.stored_fence == 2
    assert not (bench.user / "a.md").exists()
    for call in (lambda: store.seal(old), lambda: store.resolve(old, close=True)):
        with pytest.raises(LeaseLost):
            call()


def test_a_fence_that_was_never_sealed_is_lost(bench, store):
    with pytest.raises(LeaseLost) as caught:
        store.commit(bench.transaction(), result_of=describe)

    assert caught.value.stored_fence == 0


def test_lanes_do_not_share_fences(bench, store):
    store.seal(task_run(9, lane="one/../x"))

    bench.commit(store, task_run(1, lane="one"), {bench.user / "a.md": note()})

    assert (bench.user / "a.md").exists()


def test_a_closed_task_never_commits(bench, store):
    run = task_run()
    store.seal(run)
    transaction = store.begin(run, bench.roots, writable=BOTH)
    transaction.write(str(bench.user / "a.md"), note())

    answers = [store.resolve(run, close=close) for close in (False, True, True)]

    assert answers == [None, None, None]
    for call in (lambda: store.commit(transaction, result_of=describe), lambda: store.seal(run)):
        with pytest.raises(TaskClosed):
            call()
    assert not (bench.user / "a.md").exists()


def test_resolving_a_committed_task_gives_its_result(bench, store):
    run = task_run()
    result = bench.commit(store, run, {bench.user / "a.md": note()})

    assert store.resolve(run, close=True) == result
    assert store.seal(run) == result


def test_an_invalid_document_is_not_committed(bench, store):
    with pytest.raises(DocumentInvalid):
        bench.commit(store, task_run(), {bench.user / "a.md": b"no header"})

    assert tree(bench.user) == {}


def test_a_deleted_root_comes_back_with_the_next_commit(bench, store):
    bench.user.rmdir()

    bench.commit(store, task_run(), {bench.user / "deep/er/a.md": note()})

    assert (bench.user / "deep/er/a.md").read_bytes() == note()


def test_a_missing_base_is_never_made(bench, store, tmp_path):
    bench.base.rename(tmp_path / "unmounted")

    with pytest.raises(StoreUnusable):
        open_store(bench.base)
    with pytest.raises(StoreUnusable):
        store.seal(task_run())
    assert not bench.base.exists()


def test_local_project_memory_commits_beside_the_base(bench, store):
    roots = find_roots(bench.base, str(bench.workspace), local=True)
    run = task_run()
    store.seal(run)
    transaction = store.begin(run, roots, writable=BOTH)
    transaction.write(str(roots.project / "a.md"), note())

    store.commit(transaction, result_of=describe)

    assert (bench.workspace / ".qwen/memory/a.md").read_bytes() == note()
    assert (bench.workspace / ".qwen/memory/MEMORY.md").exists()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_files_are_private_whatever_the_umask(tmp_path, umask):
    def work():
        os.umask(umask)
        bench = Bench(tmp_path / "private")
        bench.commit(open_store(bench.base), task_run(), {bench.user / "sub/a.md": note()})

    (tmp_path / "private").mkdir()
    (tmp_path / "private").chmod(0o700)
    assert in_child(work) == 0
    made = [path for path in (tmp_path / "private/base").rglob("*") if path.name not in {"base", "work"}]
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in made}
    assert modes == {(True, 0o700), (False, 0o600)}


def test_times_in_the_index_are_those_of_the_commit(bench, store):
    bench.commit(store, task_run(1), {bench.user / "a.md": note("A"), bench.user / "b.md": note("B")})

    times = {path.stat().st_mtime_ns for path in (bench.user / "a.md", bench.user / "b.md")}

    assert len(times) == 1


@pytest.mark.parametrize("kind", ["link", "fifo", "hard link", "folder"])
def test_a_planted_lock_is_refused_without_hanging(bench, store, tmp_path, kind):
    lock, target = bench.base / "memlane/lock", bench.put(tmp_path / "target", b"secret")
    lock.unlink()
    plant = {
        "link": lambda: lock.symlink_to(target),
        "fifo": lambda: os.mkfifo(lock),
        "hard link": lambda: lock.hardlink_to(target),
        "folder": lock.mkdir,
    }
    plant[kind]()

    with pytest.raises(StoreUnusable, match="lock"):
        store.seal(task_run())

    assert target.read_bytes() == b"secret"


def test_a_busy_lock_is_waited_for_and_then_given_up(bench, store):
    with (
        store._files.open() as folder,
        hold_lock(folder),
        pytest.raises(StoreBusy),
        hold_lock(folder, wait_ms=30),
    ):
        pass


def test_a_lock_file_that_was_deleted_locks_nobody_out_and_nobody_in(bench, store):
    with store._files.open() as folder, hold_lock(folder):
        (bench.base / "memlane/lock").unlink()
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
def test_a_damaged_record_is_named(bench, store, name):
    run = task_run()
    bench.commit(store, run, {bench.user / "a.md": note()})
    (bench.base / "memlane" / name).write_bytes(b"{damaged")

    with pytest.raises(StoreUnusable, match=name.rpartition("/")[2]):
        open_store(bench.base).seal(run)


def test_a_lost_mark_does_not_replay_old_commits(bench, store):
    for fence in (1, 2):
        bench.commit(store, task_run(fence), {bench.user / "a.md": note(f"A{fence}")})
    (bench.base / "memlane/state/applied").unlink()

    with pytest.raises(StoreUnusable, match="behind"):
        store.seal(task_run(3))

    assert (bench.user / "a.md").read_bytes() == note("A2")


def test_a_missing_journal_entry_is_an_error_and_no_second_run(bench, store):
    run = task_run()
    bench.commit(store, run, {bench.user / "a.md": note()})
    (bench.base / "memlane/journal/000000000001.json").unlink()

    with pytest.raises(StoreUnusable, match="missing"):
        store.seal(run)


def test_a_record_that_is_a_link_is_refused(bench, store, tmp_path):
    planted = bench.put(tmp_path / "planted", b'{"fence":99}')
    store.seal(task_run(1))
    record = next((bench.base / "memlane/fences").iterdir())
    record.unlink()
    record.symlink_to(planted)

    with pytest.raises(StoreUnusable, match="link"):
        store.seal(task_run(1))


def test_a_second_writer_under_a_broken_lock_is_noticed(bench, store):
    bench.commit(store, task_run(1), {bench.user / "a.md": note()})
    journal = Journal(store._files)
    intent = Intent.model_validate_json((bench.base / "memlane/journal/000000000001.json").read_bytes())

    with pytest.raises(StoreUnusable, match="lock"):
        journal.append(intent)


def test_a_folder_in_place_of_a_document_leaves_the_commit_open_until_it_is_gone(bench):
    path = bench.user / "a.md"
    run = task_run()
    store = open_store(
        bench.base, checkpoint=lambda name: path.mkdir() if name == "journal durable" else None
    )

    with pytest.raises(StoreUnusable, match=r"a\.md"):
        bench.commit(store, run, {path: note()})
    with pytest.raises(StoreUnusable):
        open_store(bench.base).seal(run)
    path.rmdir()

    assert revision(open_store(bench.base).seal(run)) == "r1"
    assert path.read_bytes() == note()


def test_a_link_in_place_of_a_folder_leaves_the_commit_open(bench, tmp_path):
    folder, outside = bench.user / "sub", tmp_path / "outside"
    outside.mkdir()
    run = task_run()
    store = open_store(
        bench.base, checkpoint=lambda name: folder.symlink_to(outside) if name == "journal durable" else None
    )

    with pytest.raises(StoreUnusable, match="link"):
        bench.commit(store, run, {folder / "a.md": note()})
    folder.unlink()

    assert revision(store.seal(run)) == "r1"
    assert list(outside.iterdir()) == []


def test_drafts_of_a_crashed_holder_are_swept(bench, store):
    draft = bench.put(bench.base / "memlane/tmp/left-over", b"half")
    index = bench.put(bench.user / ".memlane-0123.index", b"half")

    bench.commit(store, task_run(), {bench.user / "a.md": note()})

    assert not draft.exists()
    assert not index.exists()


def test_what_the_system_refuses_names_the_thing_and_the_cause():
    with pytest.raises(StoreUnusable, match="the thing: No space left"), reporting("the thing"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
