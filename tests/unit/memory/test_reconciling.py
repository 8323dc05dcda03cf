"""What a commit does with documents that others changed since the task read them."""

import json

import pytest

from memory.errors import CommitConflict
from memory.store import open_store
from tests.support.memory import BOTH, describe, fenced_task, note, tree

TEA = note("Tea", body="\n- green\n- black\n- white\n")


@pytest.fixture
def tea(memory_base):
    return memory_base.put(memory_base.user / "tea.md", TEA)


@pytest.fixture
def store(memory_base):
    return open_store(memory_base.path)


@pytest.fixture
def begin(memory_base, store):
    """Starts a task with one edit staged; None removes the document."""

    def begin(path, content, *, lane="default/one"):
        task = fenced_task(lane=lane)
        store.seal(task)
        transaction = store.begin(task, memory_base.roots, writable=BOTH)
        if content is None:
            transaction.remove(str(path))
        else:
            transaction.write(str(path), content)
        return transaction

    return begin


def recorded(memory_base, seq):
    entry = json.loads((memory_base.path / f"memlane/journal/{seq:012d}.json").read_bytes())
    return entry["changes"]


def test_facts_that_two_lanes_add_to_one_document_at_once_both_arrive(memory_base, store, begin, tea):
    one = begin(tea, TEA.replace(b"- green\n", b"- green, one\n"), lane="default/one")
    two = begin(tea, TEA + b"- two\n", lane="default/two")
    three = begin(tea, TEA + b"- three\n", lane="default/three")

    results = [store.commit(transaction, result_of=describe) for transaction in (one, two, three)]

    assert tea.read_bytes() == TEA.replace(b"- green\n", b"- green, one\n") + b"- two\n- three\n"
    assert [result["revision"] for result in results] == ["r1", "r2", "r3"]
    assert not (memory_base.path / "memlane/external").exists()


def test_an_edit_by_hand_is_merged_and_recorded_as_what_stood_there(memory_base, store, begin, tea):
    transaction = begin(tea, TEA + b"- ours\n")
    by_hand = TEA.replace(b"- black\n", b"")
    memory_base.put(tea, by_hand)

    store.commit(transaction, result_of=describe)

    assert tea.read_bytes() == by_hand + b"- ours\n"
    (change,) = recorded(memory_base, 1)
    assert change["before"] == by_hand.decode()


def test_a_merge_that_is_no_valid_document_is_a_conflict(memory_base, store, begin, tea):
    transaction = begin(tea, TEA + b"- ours" + b"x" * 150_000 + b"\n")
    by_hand = TEA.replace(b"- green\n", b"- green" + b"x" * 150_000 + b"\n")
    memory_base.put(tea, by_hand)

    with pytest.raises(CommitConflict) as caught:
        store.commit(transaction, result_of=describe)

    assert caught.value.paths == (str(tea),)
    assert tea.read_bytes() == by_hand


def test_a_change_that_somebody_made_already_is_none(memory_base, store, begin, tea):
    transaction = begin(tea, TEA + b"- ours\n")
    transaction.write(str(memory_base.user / "new.md"), note("New"))
    memory_base.put(tea, TEA + b"- ours\n")

    result = store.commit(transaction, result_of=describe)

    assert result["filesTouched"] == [str(memory_base.user / "new.md")]
    assert tea.read_bytes() == TEA + b"- ours\n"


def test_a_task_whose_changes_are_all_made_already_has_no_revision(store, begin, tea):
    transaction = begin(tea, None)
    tea.unlink()

    result = store.commit(transaction, result_of=describe)

    assert result == {"revision": None, "filesTouched": [], "touchedScopes": []}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(TEA + b"- ours\n", None), (None, TEA + b"- theirs\n"), (TEA + b"Ours.\n", TEA + b"Theirs.\n")],
    ids=["they removed it", "we remove it", "both changed one place"],
)
def test_what_can_not_be_merged_is_a_conflict_and_nothing_changes(
    memory_base, store, begin, ours, theirs, tea
):
    transaction = begin(tea, ours)
    transaction.write(str(memory_base.project / "other.md"), note("Other", kind="project"))
    tea.unlink() if theirs is None else memory_base.put(tea, theirs)
    before = tree(memory_base.user, memory_base.project)

    with pytest.raises(CommitConflict) as caught:
        store.commit(transaction, result_of=describe)

    assert caught.value.paths == (str(tea),)
    assert tree(memory_base.user, memory_base.project) == before


def test_two_tasks_that_create_one_document_are_a_conflict(memory_base, store, begin):
    path = memory_base.user / "new.md"
    one, two = begin(path, note("One"), lane="default/one"), begin(path, note("Two"), lane="default/two")
    store.commit(one, result_of=describe)

    with pytest.raises(CommitConflict):
        store.commit(two, result_of=describe)

    assert path.read_bytes() == note("One")


def test_bytes_that_are_no_utf8_are_recorded_as_they_were(memory_base, store, begin):
    odd = memory_base.put(memory_base.user / "odd.md", b"\xff\xfe old")

    store.commit(begin(odd, note("New")), result_of=describe)

    (change,) = recorded(memory_base, 1)
    assert change["before"] == {"base64": "//4gb2xk"}
    assert change["new"] == note("New").decode()


@pytest.mark.parametrize("theirs", [TEA + b"- oolong\n", None])
def test_a_document_that_is_held_is_not_merged_and_must_be_there(memory_base, store, begin, tea, theirs):
    other = memory_base.user / "other.md"
    transaction = begin(other, note("Other"))
    transaction.hold(str(tea))
    tea.unlink() if theirs is None else tea.write_bytes(theirs)

    with pytest.raises(CommitConflict) as caught:
        store.commit(transaction, result_of=describe)

    assert list(caught.value.paths) == [str(tea)]
    assert not other.exists()


def test_a_document_that_is_held_and_stays_lets_the_commit_go_on(memory_base, store, begin, tea):
    transaction = begin(tea, note("Tea"))
    transaction.hold(str(tea))

    store.commit(transaction, result_of=describe)

    assert tea.read_bytes() == note("Tea")
