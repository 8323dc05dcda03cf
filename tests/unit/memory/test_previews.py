"""A preview changes nothing, and is applied as it was shown or not at all."""

import os

import pytest

from core import clock
from memory.errors import CommitConflict, DocumentInvalid, LeaseLost, PreviewStale, StoreUnusable, TaskClosed
from memory.revisions import Revisions
from memory.store import open_store
from tests.support.git_log import show_log
from tests.support.memory import MemoryBase, describe, fenced_task, note, tree

DAY_MS = 86_400_000


@pytest.fixture
def store(memory_base):
    return open_store(memory_base.path)


class Previewer:
    """Runs tasks of one lane: previews, and applications of them."""

    def __init__(self, memory_base, store):
        self.base = memory_base
        self.store = store
        self.fence = 0

    def task(self):
        self.fence += 1
        task = fenced_task(self.fence)
        self.store.seal(task)
        return task

    def stage(self, edits, *, read=()):
        transaction = self.base.stage(self.store, self.task(), edits)
        for path in read:
            transaction.read(str(path))
        return transaction

    def preview(self, edits, *, read=(), keep_ms=DAY_MS):
        """Make a preview; gives its task's id and its result."""
        transaction = self.stage(edits, read=read)
        result = self.store.preview(
            transaction, result_of=lambda commit: describe(commit) | {"summary": "Would."}, keep_ms=keep_ms
        )
        return transaction.task.id, result

    def apply(self, preview, *, roots=None):
        return self.store.apply(
            self.task(),
            preview,
            roots or self.base.roots,
            result_of=lambda commit, shown: shown | describe(commit),
        )


@pytest.fixture
def previewer(memory_base, store):
    return Previewer(memory_base, store)


@pytest.fixture
def edits(memory_base):
    updated = memory_base.put(memory_base.user / "updated.md", note("Old"))
    removed = memory_base.put(memory_base.user / "removed.md", note("Gone"))
    return {updated: note("New"), removed: None, memory_base.project / "a/made.md": note("Made")}


def test_a_preview_shows_what_would_change_and_changes_no_document(memory_base, store, previewer, edits):
    memory_base.commit(store, fenced_task(1, lane="default/other"), {memory_base.user / "x.md": note("X")})
    before = tree(memory_base.user, memory_base.project)

    task, result = previewer.preview(edits)

    assert tree(memory_base.user, memory_base.project) == before
    assert (result["revision"], result["summary"], len(result["filesTouched"])) == (None, "Would.", 3)
    shown = result["preview"]
    assert shown["baseRevision"] == "r1"
    assert {one["path"]: one["change"] for one in shown["diff"]} == {
        "updated.md": "updated",
        "removed.md": "deleted",
        "a/made.md": "created",
    }
    assert store.resolve(fenced_task(previewer.fence, task_id=task), close=True) == result


def test_a_preview_is_no_revision_and_not_in_the_history(memory_base, previewer, edits):
    previewer.preview(edits)

    assert Revisions(memory_base.path).page(memory_base.roots, limit=9).revisions == ()
    assert show_log(memory_base.path) == []


def test_an_applied_preview_commits_what_it_showed(memory_base, previewer, edits):
    task, shown = previewer.preview(edits)

    result = previewer.apply(task)

    assert result == {
        "summary": "Would.",
        "revision": "r2",
        "filesTouched": shown["filesTouched"],
        "touchedScopes": ["user", "project"],
    }
    assert {path: path.read_bytes() for path in edits if path.exists()} == {
        path: content for path, content in edits.items() if content is not None
    }
    diff = Revisions(memory_base.path).diff("r2", memory_base.roots)
    assert [one.to_wire() for one in diff] == shown["preview"]["diff"]


def test_a_preview_without_changes_applies_to_nothing(memory_base, previewer):
    read = memory_base.put(memory_base.user / "a.md", note())
    task, shown = previewer.preview({}, read=[read])

    assert shown["preview"] == {"diff": []}
    assert previewer.apply(task)["revision"] is None


@pytest.mark.parametrize(
    "change", ["updated", "removed", "gone", "made", "twin", "link", "read", "read gone"]
)
def test_a_preview_is_stale_when_what_it_read_or_changes_differs(memory_base, previewer, edits, change):
    read = memory_base.put(memory_base.user / "read.md", note("Read"))
    task, _ = previewer.preview(edits, read=[read])
    made, updated = memory_base.project / "a/made.md", memory_base.user / "updated.md"
    {
        "updated": lambda: memory_base.put(updated, note("Other")),
        "removed": lambda: memory_base.put(memory_base.user / "removed.md", note("Other")),
        "gone": (memory_base.user / "removed.md").unlink,
        "made": lambda: memory_base.put(made, note("Made")),
        "twin": lambda: memory_base.put(made.with_name("Made.md"), note("Twin")),
        "link": lambda: (updated.unlink(), updated.symlink_to(read)),
        "read": lambda: memory_base.put(read, note("Other")),
        "read gone": read.unlink,
    }[change]()
    before = tree(memory_base.user, memory_base.project)

    with pytest.raises(PreviewStale) as caught:
        previewer.apply(task)

    assert len(caught.value.paths) == 1
    assert tree(memory_base.user, memory_base.project) == before


def test_a_preview_outlives_changes_of_other_documents_and_of_the_index(memory_base, store, previewer, edits):
    index = memory_base.put(memory_base.user / "MEMORY.md", b"")
    task, _ = previewer.preview(edits, read=[index])
    memory_base.commit(store, fenced_task(1, lane="default/other"), {memory_base.user / "x.md": note("X")})

    assert previewer.apply(task)["revision"] == "r3"


def test_an_applied_preview_is_stale_afterwards(previewer, edits):
    task, _ = previewer.preview(edits)
    previewer.apply(task)

    with pytest.raises(PreviewStale):
        previewer.apply(task)


def test_a_preview_shows_and_applies_what_merging_made_of_it(memory_base, store, previewer):
    tea = note("Tea", body="\n- green\n- black\n- white\n")
    path = memory_base.put(memory_base.user / "tea.md", tea)
    transaction = previewer.stage({path: tea + b"- ours\n"})
    memory_base.put(path, tea.replace(b"- green\n", b""))

    result = store.preview(transaction, result_of=describe)
    previewer.apply(transaction.task.id)

    (shown,) = result["preview"]["diff"]
    assert [line for line in shown["diff"].splitlines()[2:] if line[0] in "+-"] == ["+- ours"]
    assert path.read_bytes() == tea.replace(b"- green\n", b"") + b"- ours\n"


def test_a_preview_that_would_conflict_or_is_invalid_is_none(memory_base, store, previewer):
    path = memory_base.user / "a.md"
    conflicting = previewer.stage({path: note()})
    memory_base.put(path, note("Theirs"))

    with pytest.raises(CommitConflict):
        store.preview(conflicting, result_of=describe)
    with pytest.raises(DocumentInvalid):
        previewer.preview({path: b"no header"})

    assert not (memory_base.path / "memlane/previews").exists()


def test_unknown_previews_are_stale(memory_base, store, previewer, edits):
    committed = fenced_task(1, lane="default/other")
    memory_base.commit(store, committed, {memory_base.user / "x.md": note("X")})
    closed = fenced_task(2, lane="default/other")
    store.resolve(closed, close=True)

    for task in (fenced_task().id, committed.id, closed.id):
        with pytest.raises(PreviewStale):
            previewer.apply(task)


def test_a_preview_of_another_workspace_is_unknown(memory_base, previewer, tmp_path):
    other = MemoryBase(tmp_path, workspace="other")
    task, _ = previewer.preview({memory_base.user / "a.md": note()})

    with pytest.raises(PreviewStale):
        previewer.apply(task, roots=other.roots)

    assert not (memory_base.user / "a.md").exists()


def test_an_expired_preview_is_stale_and_goes_with_the_next_one(memory_base, previewer, monkeypatch):
    path, folder = memory_base.user / "a.md", memory_base.path / "memlane/previews"
    task, _ = previewer.preview({path: note()}, keep_ms=1_000)
    (record,) = folder.iterdir()
    os.utime(record, ns=(0, 0))
    real_ms = clock.wall_ms()
    monkeypatch.setattr(clock, "wall_ms", lambda: real_ms + 1_000)

    with pytest.raises(PreviewStale):
        previewer.apply(task)
    later, _ = previewer.preview({path: note()}, keep_ms=1_000)

    assert [one.name for one in folder.iterdir()] == [f"{later}.json"]
    assert not path.exists()


def test_no_preview_is_kept_longer_than_thirty_days(memory_base, previewer, monkeypatch):
    task, _ = previewer.preview({memory_base.user / "a.md": note()}, keep_ms=1_000 * DAY_MS)
    real_ms = clock.wall_ms()
    monkeypatch.setattr(clock, "wall_ms", lambda: real_ms + 30 * DAY_MS)

    with pytest.raises(PreviewStale):
        previewer.apply(task)


def test_a_damaged_preview_is_named(memory_base, previewer):
    task, _ = previewer.preview({memory_base.user / "a.md": note()})
    (memory_base.path / f"memlane/previews/{task}.json").write_text("{damaged")

    with pytest.raises(StoreUnusable, match="previews"):
        previewer.apply(task)


def test_previews_and_their_application_run_once_whoever_asks_again(memory_base, store, previewer, edits):
    transaction = previewer.stage(edits)
    first = store.preview(transaction, result_of=describe)
    task = previewer.task()
    applied = store.apply(
        task, transaction.task.id, memory_base.roots, result_of=lambda one, _: describe(one)
    )

    assert store.preview(fenced(transaction, previewer), result_of=describe) == first
    assert store.seal(task) == applied
    assert applied == store.apply(
        task, transaction.task.id, memory_base.roots, result_of=lambda one, _: describe(one)
    )


def fenced(transaction, previewer):
    """The same task's transaction once more, under the lane's newest fence."""
    task = fenced_task(previewer.fence, task_id=transaction.task.id)
    return previewer.base.transaction(task)


def test_previews_need_the_lanes_fence_and_an_open_task(memory_base, store, previewer, edits):
    task, _ = previewer.preview(edits)
    transaction = previewer.stage(edits)
    closed = previewer.task()
    store.resolve(closed, close=True)
    before = tree(memory_base.user, memory_base.project)

    with pytest.raises(LeaseLost):
        store.preview(transaction, result_of=describe)
    with pytest.raises(LeaseLost):
        store.apply(transaction.task, task, memory_base.roots, result_of=lambda one, _: describe(one))
    with pytest.raises(TaskClosed):
        store.apply(closed, task, memory_base.roots, result_of=lambda one, _: describe(one))

    assert tree(memory_base.user, memory_base.project) == before
