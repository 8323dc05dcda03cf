"""What was committed, as a process sees it that only reads."""

import json

import pytest

from memory.errors import RevisionNotFound, RevisionPruned, StoreUnusable
from memory.paths import Roots
from memory.revisions import MAX_SCANNED, Revisions
from memory.store import open_store
from tests.support.memory import (
    BOTH,
    FolderAt,
    MemoryBase,
    describe,
    fenced_task,
    note,
    tree,
)
from tests.support.memory_process import commit_several, exit_code, start_child


@pytest.fixture
def store(memory_base):
    return open_store(memory_base.path)


@pytest.fixture
def revisions(memory_base):
    return Revisions(memory_base.path)


@pytest.fixture
def other(memory_base, tmp_path):
    """Another workspace on the same base."""
    return MemoryBase(tmp_path, workspace="other")


def ids(page):
    return [revision.id for revision in page.revisions]


def test_a_revision_says_who_changed_what_and_when(memory_base, store, revisions):
    run = fenced_task(1, task_id="remember-1")
    store.seal(run)
    transaction = store.begin(run, memory_base.roots, writable=BOTH)
    transaction.write(str(memory_base.user / "user/tea.md"), note())
    transaction.write(str(memory_base.project / "p.md"), note("P", kind="project"))
    store.commit(transaction, result_of=lambda commit: describe(commit) | {"summary": "Saved."})

    (revision,) = revisions.page(memory_base.roots, limit=9).revisions

    assert (revision.id, revision.task, revision.kind, revision.client, revision.summary) == (
        "r1",
        "remember-1",
        "remember",
        "tester",
        "Saved.",
    )
    assert revision.at_ms == (memory_base.user / "user/tea.md").stat().st_mtime_ns // 1_000_000
    assert revision.documents == (("user", "user/tea.md"), ("project", "p.md"))
    assert revision.scopes == ("user", "project")
    assert revisions.find("r1", memory_base.roots) == revision


def test_a_base_without_a_store_has_no_revisions_and_gets_none(memory_base, revisions):
    page = revisions.page(memory_base.roots, limit=9)

    assert (page.revisions, page.before) == ((), None)
    assert not (memory_base.path / "memlane").exists()


def test_pages_are_newest_first_and_leave_out_tasks_that_changed_nothing(memory_base, store, revisions):
    for fence in range(1, 7):
        edits = {memory_base.user / "a.md": note(f"A{fence}")} if fence != 4 else {}
        memory_base.commit(store, fenced_task(fence), edits)

    first = revisions.page(memory_base.roots, limit=3)
    second = revisions.page(memory_base.roots, limit=3, before=first.before)

    assert (ids(first), first.before) == (["r6", "r5", "r3"], "r3")
    assert (ids(second), second.before) == (["r2", "r1"], None)
    assert ids(revisions.page(memory_base.roots, limit=9, before="r999999999999999999")) == [
        "r6",
        "r5",
        "r3",
        "r2",
        "r1",
    ]
    assert revisions.page(memory_base.roots, limit=9, before="r1").revisions == ()


def test_one_call_reads_a_part_of_a_long_journal_and_says_where_to_go_on(
    memory_base, store, revisions, monkeypatch
):
    assert MAX_SCANNED >= 1_000
    monkeypatch.setattr("memory.revisions.MAX_SCANNED", 2)
    for fence in range(1, 5):
        edits = {memory_base.user / "a.md": note()} if fence == 1 else {}
        memory_base.commit(store, fenced_task(fence), edits)

    first = revisions.page(memory_base.roots, limit=9)
    second = revisions.page(memory_base.roots, limit=9, before=first.before)

    assert (ids(first), first.before) == ([], "r3")
    assert (ids(second), second.before) == (["r1"], None)


def test_a_workspace_sees_nothing_of_anothers_project(memory_base, store, revisions, other):
    memory_base.commit(store, fenced_task(1), {memory_base.project / "p.md": note("P", kind="project")})
    memory_base.commit(
        store,
        fenced_task(2),
        {memory_base.project / "q.md": note("Q", kind="project"), memory_base.user / "u.md": note("U")},
    )

    (seen,) = revisions.page(other.roots, limit=9).revisions

    assert (seen.id, seen.documents) == ("r2", (("user", "u.md"),))
    assert [diff.path for diff in revisions.diff("r2", other.roots)] == ["u.md"]
    for call in (revisions.find, revisions.diff):
        with pytest.raises(RevisionNotFound):
            call("r1", other.roots)


def test_roots_that_only_look_alike_see_nothing(memory_base, store, revisions):
    memory_base.commit(store, fenced_task(1), {memory_base.user / "u.md": note("U")})

    crossed = Roots(user=memory_base.project, project=memory_base.user)

    assert revisions.page(crossed, limit=9).revisions == ()


@pytest.mark.parametrize("revision", ["r2", "r0", "r01", "1", "r-1", "", "R1", "r1 ", "r" + "9" * 18, "r1\n"])
def test_an_unknown_revision_is_not_found(memory_base, store, revisions, revision):
    memory_base.commit(store, fenced_task(1), {memory_base.user / "u.md": note("U")})

    for call in (revisions.find, revisions.diff):
        with pytest.raises(RevisionNotFound):
            call(revision, memory_base.roots)


def test_a_task_without_changes_is_no_revision(memory_base, store, revisions):
    memory_base.commit(store, fenced_task(1), {})

    with pytest.raises(RevisionNotFound):
        revisions.find("r1", memory_base.roots)


def test_a_diff_shows_what_stood_there_before_and_after(memory_base, store, revisions):
    updated, deleted = memory_base.user / "u.md", memory_base.user / "d.md"
    memory_base.commit(store, fenced_task(1), {updated: note("Old"), deleted: note("Gone")})
    memory_base.put(updated, note("By hand"))
    memory_base.commit(
        store,
        fenced_task(2),
        {updated: note("New"), deleted: None, memory_base.project / "c.md": note("Made", kind="project")},
    )

    found = {diff.path: diff for diff in revisions.diff("r2", memory_base.roots)}

    assert {path: diff.change for path, diff in found.items()} == {
        "u.md": "updated",
        "d.md": "deleted",
        "c.md": "created",
    }
    assert "-name: By hand\n" in found["u.md"].diff
    assert "+name: New\n" in found["u.md"].diff


def test_a_document_tells_who_wrote_each_of_its_versions(memory_base, store, revisions):
    path, another = memory_base.user / "user/a.md", memory_base.user / "b.md"
    edits = [{path: note("A")}, {another: note("B")}, {path: note("C")}, {path: None}]
    for fence, edit in enumerate(edits, start=1):
        memory_base.commit(store, fenced_task(fence, task_id=f"remember-{fence}"), edit)

    page = revisions.history_of(memory_base.roots, "user", "user/a.md", limit=2)
    rest = revisions.history_of(memory_base.roots, "user", "user/a.md", limit=2, before=page.before)

    assert [revision.task for revision in (*page.revisions, *rest.revisions)] == [
        "remember-4",
        "remember-3",
        "remember-1",
    ]
    assert revisions.history_of(memory_base.roots, "project", "user/a.md", limit=9).revisions == ()


def test_a_revision_without_its_texts_is_listed_and_has_no_diff(memory_base, store, revisions):
    memory_base.put(memory_base.user / "a.md", note("Old"))
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note("New")})
    entry = memory_base.path / "memlane/journal/000000000001.json"
    facts = json.loads(entry.read_bytes())
    del facts["changes"][0]["before"]
    entry.write_text(json.dumps(facts))

    assert ids(revisions.page(memory_base.roots, limit=9)) == ["r1"]
    with pytest.raises(RevisionPruned):
        revisions.diff("r1", memory_base.roots)


def test_a_commit_that_waits_for_its_place_is_a_revision(memory_base, revisions):
    path = memory_base.user / "a.md"
    blocked = open_store(memory_base.path, checkpoint=FolderAt("journal durable", path))
    memory_base.commit(blocked, fenced_task(1), {path: note("A")})

    assert ids(revisions.page(memory_base.roots, limit=9)) == ["r1"]


def test_reading_writes_nothing_and_waits_for_nobody_who_commits(memory_base, store, revisions):
    memory_base.commit(store, fenced_task(99), {memory_base.user / "a.md": note()})
    before = tree(memory_base.path)
    revisions.page(memory_base.roots, limit=9)
    revisions.diff("r1", memory_base.roots)
    after = tree(memory_base.path)
    writer = start_child(commit_several, memory_base, "one", count=5)
    known = 1

    while writer.is_alive():
        page = revisions.page(memory_base.roots, limit=100)
        assert ids(page) == [f"r{seq}" for seq in range(len(page.revisions), 0, -1)]
        assert len(page.revisions) >= known
        known = len(page.revisions)

    assert exit_code(writer) == 0
    assert before == after
    assert len(revisions.page(memory_base.roots, limit=100).revisions) == 6


def test_a_commit_that_is_being_published_is_no_revision_yet(memory_base, store, revisions):
    seen = []
    publishing = open_store(
        memory_base.path,
        checkpoint=lambda step: (
            seen.append(ids(revisions.page(memory_base.roots, limit=9))) if step == "journal linked" else None
        ),
    )

    memory_base.commit(publishing, fenced_task(1), {memory_base.user / "a.md": note()})

    assert seen == [[]]
    assert ids(revisions.page(memory_base.roots, limit=9)) == ["r1"]


@pytest.mark.parametrize("name", ["journal/000000000001.json", "state/applied"])
def test_a_damaged_journal_is_named(memory_base, store, revisions, name):
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note()})
    (memory_base.path / "memlane" / name).write_bytes(b"{damaged")

    with pytest.raises(StoreUnusable, match="damaged"):
        revisions.page(memory_base.roots, limit=9)
