"""The index is made from the documents: what goes wrong with it stops no commit and is made good later."""

import json

import pytest

from memory.apply import MAX_PARSED_UNDER_LOCK
from memory.index import build_index
from memory.store import open_store
from tests.support.memory import BOTH, FailAt, describe, fenced_task, note, revision


def applied(memory_base):
    return json.loads((memory_base.path / "memlane/state/applied").read_bytes())


def index(memory_base):
    path = memory_base.user / "MEMORY.md"
    return path.read_text() if path.exists() else None


def test_an_index_that_cannot_be_written_leaves_no_commit_open(memory_base):
    full = open_store(memory_base.path, checkpoint=FailAt("index written"))

    result = memory_base.commit(full, fenced_task(), {memory_base.user / "a.md": note()})

    assert result["revision"] == "r1"
    assert applied(memory_base) == {"seq": 1, "open": []}
    assert index(memory_base) is None


def test_an_index_that_was_left_is_made_good_when_the_next_task_begins(memory_base):
    full = open_store(memory_base.path, checkpoint=FailAt("index written"))
    memory_base.commit(full, fenced_task(), {memory_base.user / "a.md": note()})

    full.begin(fenced_task(), memory_base.roots, writable=BOTH)
    assert index(memory_base) is None
    open_store(memory_base.path).begin(fenced_task(), memory_base.roots, writable=BOTH)

    assert index(memory_base) == build_index(memory_base.user) != ""
    assert list(memory_base.user.glob(".memlane-*")) == []


def test_an_index_that_is_slow_to_make_is_not_made_under_the_lock(memory_base):
    for number in range(MAX_PARSED_UNDER_LOCK + 1):
        memory_base.put(memory_base.user / f"{number}.md", note(f"N{number}"))
    store, run = open_store(memory_base.path), fenced_task()
    store.seal(run)
    transaction = memory_base.transaction(run)
    transaction.write(str(memory_base.user / "a.md"), note())

    result = store.commit(transaction, result_of=describe)

    assert result["revision"] == "r1"
    assert applied(memory_base) == {"seq": 1, "open": []}
    assert index(memory_base) is None
    store.begin(fenced_task(), memory_base.roots, writable=BOTH)
    assert index(memory_base) == build_index(memory_base.user) != ""


def test_a_big_root_that_is_known_is_indexed_in_the_commit(memory_base):
    for number in range(MAX_PARSED_UNDER_LOCK + 1):
        memory_base.put(memory_base.user / f"{number}.md", note(f"N{number}"))

    memory_base.commit(open_store(memory_base.path), fenced_task(), {memory_base.user / "a.md": note("New")})

    assert index(memory_base) == build_index(memory_base.user)
    assert "[New](a.md)" in str(index(memory_base))


@pytest.mark.parametrize("name", [".memlane-0123.index", "MEMORY.md"])
def test_a_folder_in_the_way_of_the_index_fails_neither_commit_nor_begin(memory_base, name):
    (memory_base.user / name).mkdir()
    store = open_store(memory_base.path)

    result = memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note()})
    again = memory_base.commit(store, fenced_task(2), {memory_base.user / "b.md": note("B")})

    assert [revision(result), revision(again)] == ["r1", "r2"]
    assert (memory_base.user / name).is_dir()
    assert (memory_base.user / "MEMORY.md").is_dir() or index(memory_base) == build_index(memory_base.user)
