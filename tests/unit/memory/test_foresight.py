"""What is known of an undo or an application before it is asked for."""

import pytest

from core.ids import TaskId
from memory.errors import CommitConflict, PreviewStale, RevisionNotFound, RevisionPruned, RevisionUndone
from memory.foresight import Foresight
from memory.store import open_store
from tests.support.memory import MemoryBase, describe, fenced_task, note, tree

FAR_MS = 10**15


@pytest.fixture
def store(memory_base):
    return open_store(memory_base.path)


@pytest.fixture
def foresight(memory_base):
    return Foresight(memory_base.path)


@pytest.fixture
def tea(memory_base, store):
    path = memory_base.user / "user/tea.md"
    memory_base.commit(store, fenced_task(1), {path: note("Tea")})
    memory_base.commit(store, fenced_task(2), {path: note("Green tea")})
    return path


def test_what_fits_passes_and_looking_changes_nothing(memory_base, foresight, tea):
    before = tree(memory_base.path)

    foresight.require_undoable("r2", memory_base.roots)

    assert tree(memory_base.path) == before


def test_a_document_that_changed_since_is_named_by_its_scope(memory_base, foresight, tea):
    memory_base.put(tea, note("Coffee"))

    with pytest.raises(CommitConflict) as caught:
        foresight.require_undoable("r2", memory_base.roots)

    assert caught.value.paths == ("user/user/tea.md",)


def test_what_is_taken_back_already_is_told(memory_base, store, foresight, tea):
    undoing = fenced_task(3, kind="undo")
    store.seal(undoing)
    store.undo(undoing, "r2", memory_base.roots, result_of=describe)

    with pytest.raises(RevisionUndone):
        foresight.require_undoable("r2", memory_base.roots)


def test_unknown_and_pruned_revisions_are_told(memory_base, store, foresight, tea):
    while store.show_history():
        pass
    store.prune(before_ms=FAR_MS)

    for revision, error in (("r9", RevisionNotFound), ("r2", RevisionPruned)):
        with pytest.raises(error):
            foresight.require_undoable(revision, memory_base.roots)


def preview(memory_base, store, edits, fence=3):
    task = fenced_task(fence)
    store.seal(task)
    store.preview(memory_base.stage(store, task, edits), result_of=describe)
    return task.id


def test_a_preview_passes_until_its_document_changes(memory_base, store, foresight, tea):
    shown = preview(memory_base, store, {tea: note("Black tea")})
    foresight.require_applicable(shown, memory_base.roots)
    memory_base.put(tea, note("Coffee"))

    with pytest.raises(PreviewStale) as caught:
        foresight.require_applicable(shown, memory_base.roots)

    assert caught.value.paths == ("user/user/tea.md",)


def test_a_preview_that_is_gone_is_stale_and_one_that_was_never_here_may_be_elsewhere(
    memory_base, store, foresight, tea, tmp_path
):
    shown = preview(memory_base, store, {tea: note("Black tea")})
    (file,) = (memory_base.path / "memlane/previews").iterdir()
    file.unlink()

    with pytest.raises(PreviewStale):
        foresight.require_applicable(shown, memory_base.roots)

    foresight.require_applicable(TaskId("forget-elsewhere"), memory_base.roots)
    empty = MemoryBase(tmp_path / "empty")
    Foresight(empty.path).require_applicable(shown, empty.roots)
