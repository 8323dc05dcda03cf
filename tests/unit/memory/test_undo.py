"""A revision is taken back as one commit of its own."""

import itertools
import json
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.errors import (
    CommitConflict,
    LeaseLost,
    RevisionNotFound,
    RevisionPruned,
    StoreUnusable,
    TaskClosed,
)
from memory.index import build_index
from memory.revisions import Revisions
from memory.store import open_store
from tests.support.memory import FolderAt, MemoryBase, describe, documents, fenced_task, note, tree

TEA = note("Tea", body="\n- green\n- black\n- white\n")


@pytest.fixture
def store(memory_base):
    return open_store(memory_base.path)


@pytest.fixture
def undo(memory_base, store):
    """Undoes a revision as a task of its own."""

    def undo(revision, *, fence, roots=None):
        task = fenced_task(fence, kind="undo")
        store.seal(task)
        return store.undo(task, revision, roots or memory_base.roots, result_of=describe)

    return undo


@pytest.fixture
def changed(memory_base, store):
    """A revision r1 that updates, removes and creates; gives the documents before and after it."""
    updated = memory_base.put(memory_base.user / "updated.md", note("Old") + b"\xff\r\nno end")
    removed = memory_base.put(memory_base.user / "sub/removed.md", b"no header at all")
    created = memory_base.project / "new/created.md"
    before = documents(memory_base)
    memory_base.commit(
        store,
        fenced_task(1),
        {updated: note("New"), removed: None, created: note("Made", kind="project")},
    )
    return before, documents(memory_base)


def test_undone_documents_have_the_bytes_that_they_had(memory_base, changed, undo):
    before, _ = changed

    result = undo("r1", fence=2)

    assert documents(memory_base) == before
    assert (result["revision"], result["touchedScopes"]) == ("r2", ["user", "project"])
    assert len(result["filesTouched"]) == 3
    for root in (memory_base.user, memory_base.project):
        assert (root / "MEMORY.md").read_text() == build_index(root)


def test_an_undo_can_be_undone_again_and_again(memory_base, changed, undo):
    before, after = changed

    states = []
    for fence, revision in enumerate(("r1", "r2", "r3", "r4"), start=2):
        undo(revision, fence=fence)
        states.append(documents(memory_base))

    assert states == [before, after, before, after]


def test_what_is_undone_already_gives_no_revision(memory_base, changed, undo):
    undo("r1", fence=2)
    state = documents(memory_base)

    again = undo("r1", fence=3)

    assert again == {"revision": None, "filesTouched": [], "touchedScopes": []}
    assert documents(memory_base) == state


def test_what_people_put_back_by_hand_is_left_as_it_is(memory_base, changed, undo):
    removed = memory_base.put(memory_base.user / "sub/removed.md", b"no header at all")

    result = undo("r1", fence=2)

    assert str(removed) not in result["filesTouched"]
    assert removed.read_bytes() == b"no header at all"


def test_later_changes_elsewhere_in_a_document_stay(memory_base, store, undo):
    path = memory_base.put(memory_base.user / "tea.md", TEA)
    memory_base.commit(store, fenced_task(1), {path: TEA.replace(b"- green\n", b"- green, bad\n")})
    memory_base.put(path, path.read_bytes() + b"- later\n")

    undo("r1", fence=2)

    assert path.read_bytes() == TEA + b"- later\n"


@pytest.mark.parametrize("later", ["changed", "removed", "created"])
def test_a_document_that_changed_since_is_named_and_nothing_is_undone(memory_base, changed, undo, later):
    path = {
        "changed": lambda: memory_base.put(memory_base.user / "updated.md", note("Later")),
        "removed": lambda: memory_base.put(memory_base.project / "new/created.md", note("Later")),
        "created": lambda: memory_base.put(memory_base.user / "sub/removed.md", note("Later")),
    }[later]()
    state = documents(memory_base)

    with pytest.raises(CommitConflict) as caught:
        undo("r1", fence=2)

    assert caught.value.paths == (str(path),)
    assert documents(memory_base) == state


@pytest.mark.parametrize("revision", ["r2", "r7", "r0", "x", ""])
def test_an_unknown_revision_is_not_found_and_nothing_changes(memory_base, store, changed, undo, revision):
    memory_base.commit(store, fenced_task(2), {})
    state = tree(memory_base.user, memory_base.project)

    with pytest.raises(RevisionNotFound):
        undo(revision, fence=3)

    assert tree(memory_base.user, memory_base.project) == state


def test_another_workspace_undoes_what_lies_in_the_shared_root_only(memory_base, changed, undo, tmp_path):
    before, after = changed
    other = MemoryBase(tmp_path, workspace="other")

    result = undo("r1", fence=2, roots=other.roots)

    created = str(memory_base.project / "new/created.md")
    assert result["touchedScopes"] == ["user"]
    assert documents(memory_base) == before | {created: after[created]}


def test_a_revision_of_another_workspace_is_not_found(memory_base, store, undo, tmp_path):
    other = MemoryBase(tmp_path, workspace="other")
    memory_base.commit(store, fenced_task(1), {memory_base.project / "p.md": note("P", kind="project")})

    with pytest.raises(RevisionNotFound):
        undo("r1", fence=2, roots=other.roots)

    assert (memory_base.project / "p.md").exists()


def test_a_revision_whose_texts_were_not_kept_can_not_be_undone(memory_base, changed, undo):
    _, after = changed
    entry = memory_base.path / "memlane/journal/000000000001.json"
    facts = json.loads(entry.read_bytes())
    del facts["changes"][0]["before"], facts["changes"][1]["before"]
    entry.write_text(json.dumps(facts))

    with pytest.raises(RevisionPruned):
        undo("r1", fence=2)

    assert documents(memory_base) == after


def test_an_undo_runs_once_whoever_asks_again(memory_base, store, changed):
    task = fenced_task(2, kind="undo")
    store.seal(task)
    first = store.undo(task, "r1", memory_base.roots, result_of=describe)

    assert store.undo(task, "r1", memory_base.roots, result_of=describe) == first
    assert store.seal(task) == first


def test_an_undo_needs_the_lanes_fence_and_an_open_task(memory_base, store, changed):
    _, after = changed
    old, closed = fenced_task(2, kind="undo"), fenced_task(3, kind="undo")
    store.resolve(closed, close=True)

    with pytest.raises(LeaseLost):
        store.undo(old, "r1", memory_base.roots, result_of=describe)
    with pytest.raises(TaskClosed):
        store.undo(closed, "r1", memory_base.roots, result_of=describe)

    assert documents(memory_base) == after


def test_an_undo_waits_for_a_root_that_is_blocked(memory_base):
    path, other = memory_base.user / "a.md", memory_base.user / "b.md"
    store = open_store(memory_base.path)
    memory_base.commit(store, fenced_task(1), {other: note("B")})
    blocked = open_store(memory_base.path, checkpoint=FolderAt("journal durable", path))
    memory_base.commit(blocked, fenced_task(2), {path: note("A")})

    task = fenced_task(3, kind="undo")
    store.seal(task)
    with pytest.raises(StoreUnusable, match="no place yet"):
        store.undo(task, "r1", memory_base.roots, result_of=describe)

    assert other.read_bytes() == note("B")


def test_an_undo_is_a_revision_like_any_other(memory_base, changed, undo):
    undo("r1", fence=2)
    revisions = Revisions(memory_base.path)

    found = revisions.page(memory_base.roots, limit=9).revisions

    assert [(revision.id, revision.kind) for revision in found] == [("r2", "undo"), ("r1", "remember")]
    assert {diff.path: diff.change for diff in revisions.diff("r2", memory_base.roots)} == {
        "updated.md": "updated",
        "sub/removed.md": "created",
        "new/created.md": "deleted",
    }


NAMES = st.sampled_from(["a.md", "b.md", "sub/c.md"])
VERSIONS = st.none() | st.integers(0, 3).map(
    lambda number: note(f"N{number}", body=f"\n- {number}\n- same\n")
)
TASKS = st.lists(st.dictionaries(NAMES, VERSIONS, min_size=1), min_size=1, max_size=4)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TASKS)
def test_undoing_tasks_newest_first_goes_back_through_every_state(tmp_path, tasks):
    base = MemoryBase(Path(mkdtemp(dir=tmp_path)))
    store, states, fences = open_store(base.path), [], itertools.count(1)
    for edits in tasks:
        there = {path for path in edits if (base.user / path).exists()}
        wanted = {path: content for path, content in edits.items() if content is not None or path in there}
        states.append(documents(base))
        base.commit(
            store, fenced_task(next(fences)), {base.user / path: text for path, text in wanted.items()}
        )

    for seq, before in reversed(list(enumerate(states, start=1))):
        undoing = fenced_task(next(fences), kind="undo")
        store.seal(undoing)
        with suppress(RevisionNotFound):  # a task that changed nothing
            store.undo(undoing, f"r{seq}", base.roots, result_of=describe)
        assert documents(base) == before
