import resource
import signal

import pytest

from core.ids import new_uuid
from memory.errors import StoreUnusable
from memory.store import open_store
from tests.support.memory import BOTH, KillAt, MemoryBase, describe, fenced_task, note
from tests.support.memory_process import in_child, seal


@pytest.fixture
def store(memory_base):
    return open_store(memory_base.path)


def test_the_expected_store_is_opened(memory_base, store):
    assert open_store(memory_base.path, expect=store.store_id).store_id == store.store_id


@pytest.mark.parametrize("stands", ["base", "folder"])
def test_an_expected_store_is_never_made_in_an_empty_folder(memory_base, stands):
    expected = new_uuid()
    if stands == "folder":
        (memory_base.path / "memlane").mkdir()
    before = sorted(memory_base.path.rglob("*"))

    with pytest.raises(StoreUnusable) as caught:
        open_store(memory_base.path, expect=expected)

    assert str(caught.value) == f"the memory store below {memory_base.path} is missing (expected {expected})"
    assert sorted(memory_base.path.rglob("*")) == before


def test_another_store_than_the_expected_one_is_refused(memory_base, store):
    expected = new_uuid()

    with pytest.raises(StoreUnusable, match=rf"is another one: {store.store_id} \(expected {expected}\)"):
        open_store(memory_base.path, expect=expected)


@pytest.mark.parametrize("is_expected", [False, True])
def test_a_store_whose_maker_died_while_it_made_it_can_be_opened(memory_base, is_expected):
    code = in_child(seal, memory_base, fenced_task(), checkpoint=KillAt(name=". linked"), native=True)
    assert code == -signal.SIGKILL
    made = (memory_base.path / "memlane" / "store-id").read_text().strip()

    assert open_store(memory_base.path, expect=made if is_expected else None).store_id == made


def test_a_second_link_to_the_id_of_an_open_store_is_told_at_once_and_not_waited_for(memory_base, store):
    (memory_base.path / "backup").hardlink_to(memory_base.path / "memlane" / "store-id")

    with pytest.raises(StoreUnusable, match="second hard link"):
        store.seal(fenced_task())


def test_a_missing_base_is_told_apart_from_a_missing_store(tmp_path):
    with pytest.raises(StoreUnusable, match="does not exist"):
        open_store(tmp_path / "none", expect=new_uuid())

    assert not (tmp_path / "none").exists()


def call_all(store, memory_base):
    run = fenced_task()
    transaction = memory_base.transaction(run)
    transaction.write(str(memory_base.user / "a.md"), note())
    return [
        lambda: store.seal(run),
        lambda: store.commit(transaction, result_of=describe),
        lambda: store.resolve(run, close=True),
        store.require_writable,
    ]


def test_a_volume_that_vanished_is_no_new_store(memory_base, store, tmp_path):
    calls = call_all(store, memory_base)
    (memory_base.path / "memlane").rename(tmp_path / "unmounted")

    for call in calls:
        with pytest.raises(StoreUnusable, match="the memory store"):
            call()

    assert not (memory_base.path / "memlane").exists()


def test_a_store_that_was_exchanged_for_another_one_is_refused(memory_base, store):
    (memory_base.path / "memlane/store-id").write_text(new_uuid())

    for call in call_all(store, memory_base):
        with pytest.raises(StoreUnusable, match=f"another one: .*expected {store.store_id}"):
            call()

    assert not (memory_base.path / "memlane/fences").exists()


def test_the_probe_for_writing_leaves_nothing(memory_base, store):
    store.require_writable()

    assert list((memory_base.path / "memlane/tmp").iterdir()) == []


def test_a_store_without_its_folder_for_drafts_is_not_writable(memory_base, store):
    drafts = memory_base.path / "memlane/tmp"
    drafts.rmdir()
    drafts.write_text("in the way")

    with pytest.raises(StoreUnusable, match="tmp"):
        store.require_writable()


def test_a_store_on_a_disk_that_takes_no_bytes_is_not_writable(memory_base, store):
    assert in_child(find_out_without_room, memory_base, store.store_id) == 0
    assert list((memory_base.path / "memlane/tmp").iterdir()) == []


def find_out_without_room(base: MemoryBase, store_id: str) -> None:
    store = open_store(base.path, expect=store_id)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    with pytest.raises(StoreUnusable, match="memory store"):
        store.require_writable()


def test_a_task_on_a_disk_that_takes_no_bytes_commits_nothing(memory_base, store):
    store.seal(fenced_task())

    assert in_child(commit_without_room, memory_base) == 0
    assert list((memory_base.path / "memlane/tmp").iterdir()) == []
    assert not (memory_base.user / "a.md").exists()


def commit_without_room(base: MemoryBase) -> None:
    store, run = open_store(base.path), fenced_task()
    store.seal(run)
    transaction = store.begin(run, base.roots, writable=BOTH)
    transaction.write(str(base.user / "a.md"), note())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    with pytest.raises(StoreUnusable, match="File too large"):
        store.commit(transaction, result_of=describe)
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert store.resolve(run, close=False) is None
