import os
import signal

import pytest

from memory.errors import StoreBusy, StoreUnusable
from memory.renames import Renames
from memory.store import open_store
from tests.support.memory import KillAt, in_child, note, task_run


class AlwaysTaken(Renames):
    """A file system on which somebody else is always quicker."""

    def place(self, folder, source, target):
        return False


def killed_at(step):
    return lambda name: KillAt(0)(name) if name == step else None


def test_a_file_that_never_stands_still_is_left_to_the_next_holder(bench):
    run = task_run()

    with pytest.raises(StoreBusy, match="changing"):
        bench.commit(open_store(bench.base, renames=AlwaysTaken()), run, {bench.user / "a.md": note()})

    assert open_store(bench.base).seal(run) is not None
    assert (bench.user / "a.md").read_bytes() == note()


def test_a_folder_that_was_swapped_away_is_given_back(bench):
    path = bench.put(bench.user / "a.md", note("Old"))
    run = task_run()
    die = killed_at("part ready")
    code = in_child(lambda: bench.commit(open_store(bench.base, checkpoint=die), run, {path: note()}))
    assert code == -signal.SIGKILL
    (temporary,) = bench.user.glob(".memlane-*.tmp")
    temporary.rename(path)
    bench.put(temporary / "inner.txt", b"mine")

    with pytest.raises(StoreUnusable, match="folder"):
        open_store(bench.base).seal(run)

    assert (path / "inner.txt").read_bytes() == b"mine"


def test_special_files_that_take_a_documents_place_are_recorded(bench):
    path = bench.put(bench.user / "a.md", note("Old"))

    def swap(name):
        if name == "journal durable":
            path.unlink()
            os.mkfifo(path)

    bench.commit(open_store(bench.base, checkpoint=swap), task_run(), {path: note()})

    assert path.read_bytes() == note()
    assert len(list((bench.base / "memlane/external").glob("*.json"))) == 1


def test_a_document_that_vanished_before_its_removal_is_removed(bench):
    path = bench.put(bench.user / "a.md", note("Old"))
    store = open_store(
        bench.base, checkpoint=lambda name: path.unlink() if name == "journal durable" else None
    )

    assert bench.commit(store, task_run(), {path: None})["revision"] == "r1"
    assert not path.exists()


def test_a_folder_deleted_with_its_document_does_not_stop_the_removal(bench):
    path = bench.put(bench.user / "sub/a.md", note("Old"))

    def delete(name):
        if name == "journal durable":
            path.unlink()
            path.parent.rmdir()

    assert (
        bench.commit(open_store(bench.base, checkpoint=delete), task_run(), {path: None})["revision"] == "r1"
    )
