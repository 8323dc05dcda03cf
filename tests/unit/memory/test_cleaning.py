"""Texts leave the store when they are old, or when a document has to be forgotten."""

import json
import signal

import pytest
from dulwich.repo import Repo

from memory.doctor import examine, mend
from memory.errors import LeaseLost, PreviewStale, RevisionPruned, StoreUnusable
from memory.revisions import Revisions
from memory.store import open_store
from tests.support.git_log import read_log, repository_of, show_log
from tests.support.memory import (
    FailAt,
    FolderAt,
    KillAt,
    MemoryBase,
    describe,
    documents,
    fenced_task,
    note,
    tree,
)
from tests.support.memory_process import in_child, prune, purge

SECRET = b"hunter2"
FAR_MS = 10**15


@pytest.fixture
def store(memory_base):
    return open_store(memory_base.path)


@pytest.fixture
def secret(memory_base):
    return memory_base.user / "user/secret.md"


@pytest.fixture
def told(memory_base, store, secret):
    """A document that held a secret through three commits and an edit by hand, beside another one."""
    by_hand = open_store(
        memory_base.path,
        checkpoint=lambda step: secret.write_bytes(note("hunter2 by hand")) if step == "part ready" else None,
    )
    other = memory_base.user / "other.md"
    memory_base.commit(store, fenced_task(1), {secret: note("hunter2"), other: note("Other")})
    memory_base.commit(by_hand, fenced_task(2), {secret: note("hunter2 again")})
    memory_base.put(secret, note("hunter2 edited"))
    memory_base.commit(store, fenced_task(3), {secret: note("Harmless"), other: note("Other again")})
    show_log(memory_base.path)
    return fenced_task(3)


def stored(memory_base):
    """All bytes that the store holds, git's objects unpacked."""
    files = {
        path: content
        for path, content in tree(memory_base.path / "memlane").items()
        if "history.git/objects/" not in path
    }
    with Repo(str(repository_of(memory_base.path))) as repo:
        objects = {str(sha): repo[sha].as_raw_string() for sha in repo.object_store}
    return files | objects


def holders(memory_base):
    return [path for path, content in stored(memory_base).items() if SECRET in content]


def entry(memory_base, seq):
    return json.loads((memory_base.path / f"memlane/journal/{seq:012d}.json").read_bytes())


def test_a_purged_document_is_nowhere_in_the_store_any_more(memory_base, store, told):
    before = documents(memory_base)
    assert len(holders(memory_base)) > 5

    store.purge(told, {("user", "user/secret.md")}, memory_base.roots)

    assert holders(memory_base) == []
    assert documents(memory_base) == before
    assert not (memory_base.path / "memlane/history.old").exists()


def test_what_a_purge_does_not_name_stays(memory_base, store, told):
    store.purge(told, {("user", "user/secret.md")}, memory_base.roots)

    log = read_log(memory_base.path)
    assert [logged.subject for logged in log if "external" not in logged.subject] == [
        f"r{seq} remember:" for seq in (1, 2, 3)
    ]
    assert [logged.files.get("memories/other.md") for logged in (log[0], log[-1])] == [
        note("Other"),
        note("Other again"),
    ]
    assert {change["path"]: change["new"] for change in entry(memory_base, 3)["changes"]} == {
        "user/secret.md": None,
        "other.md": note("Other again").decode(),
    }


def test_a_purged_revision_is_listed_and_can_neither_be_shown_nor_undone(memory_base, store, told):
    store.purge(told, {("user", "user/secret.md")}, memory_base.roots)
    revisions, undoing = Revisions(memory_base.path), fenced_task(4, kind="undo")

    assert [one.id for one in revisions.page(memory_base.roots, limit=9).revisions] == ["r3", "r2", "r1"]
    with pytest.raises(RevisionPruned):
        revisions.diff("r1", memory_base.roots)
    store.seal(undoing)
    with pytest.raises(RevisionPruned):
        store.undo(undoing, "r3", memory_base.roots, result_of=describe)


def test_tasks_after_a_purge_go_on_as_before(memory_base, store, secret, told):
    store.purge(told, {("user", "user/secret.md")}, memory_base.roots)

    memory_base.commit(open_store(memory_base.path), fenced_task(4), {secret: note("Later")})

    assert show_log(memory_base.path)[-1].files["memories/user/secret.md"] == note("Later")
    assert store.seal(fenced_task(5, task_id="remember-new")) is None


def test_previews_of_a_purged_document_go_with_what_their_results_show(memory_base, store, secret, told):
    previewed, kept = fenced_task(4), fenced_task(5)
    for task, path in ((previewed, secret), (kept, memory_base.user / "kept.md")):
        store.seal(task)
        transaction = memory_base.stage(store, task, {path: note("hunter2" if task is previewed else "Kept")})
        store.preview(transaction, result_of=lambda commit: describe(commit) | {"summary": "Shown."})

    store.purge(kept, {("user", "user/secret.md")}, memory_base.roots)

    assert holders(memory_base) == []
    applying = fenced_task(6)
    store.seal(applying)
    with pytest.raises(PreviewStale):
        store.apply(applying, previewed.id, memory_base.roots, result_of=lambda one, _: describe(one))
    assert store.apply(applying, kept.id, memory_base.roots, result_of=lambda one, _: describe(one))[
        "revision"
    ]


def test_results_of_a_purged_documents_tasks_keep_no_quotes(memory_base, store, secret):
    task = fenced_task(1)
    store.seal(task)
    transaction = memory_base.stage(store, task, {secret: note("Secret")})
    quoting = {
        "summary": "Saved hunter2.",
        "removedEntries": [{"summary": "hunter2"}],
        "touchedTopics": ["user"],
    }
    store.commit(transaction, result_of=lambda commit: describe(commit) | quoting)

    store.purge(task, {("user", "user/secret.md")}, memory_base.roots)

    result = store.seal(task)
    assert result is not None
    assert (result["summary"], result["removedEntries"], result["touchedTopics"]) == ("", [], ["user"])
    assert result["revision"] == "r1"


def test_a_purge_that_was_cut_short_is_done_by_the_next_one(memory_base, store, told):
    for step in ("journal renamed", "external removed", "history locked"):
        cut = open_store(memory_base.path, checkpoint=FailAt(step))
        with pytest.raises(StoreUnusable):
            cut.purge(told, {("user", "user/secret.md")}, memory_base.roots)

    store.purge(told, {("user", "user/secret.md")}, memory_base.roots)

    assert holders(memory_base) == []


@pytest.mark.parametrize(
    ("step", "native"),
    [
        ("history copied", True),
        ("folder replaced", True),
        ("folder taken away", False),
        ("folder replaced", False),
    ],
)
def test_a_purge_that_was_killed_at_the_history_loses_no_pruned_text_and_is_done_by_the_next_one(
    memory_base, store, told, step, native
):
    document = ("user", "user/secret.md")
    store.prune(before_ms=FAR_MS)
    code = in_child(purge, memory_base, told, document, checkpoint=KillAt(name=step), native=native)
    assert code == -signal.SIGKILL
    assert [logged.files["memories/other.md"] for logged in show_log(memory_base.path)][-1] == note(
        "Other again"
    )

    store.purge(told, {document}, memory_base.roots)

    log = show_log(memory_base.path)
    assert holders(memory_base) == []
    assert log[-1].files == {"memories/other.md": note("Other again")}
    assert not (memory_base.path / "memlane/history.old").exists()


def test_a_purge_needs_the_lanes_fence(memory_base, store, told):
    before = stored(memory_base)

    with pytest.raises(LeaseLost):
        store.purge(fenced_task(2), {("user", "user/secret.md")}, memory_base.roots)

    assert stored(memory_base) == before


def test_a_purge_waits_for_commits_that_have_no_place_yet(memory_base, store, secret):
    blocked = open_store(memory_base.path, checkpoint=FolderAt("journal durable", secret))
    memory_base.commit(blocked, fenced_task(1), {secret: note("Secret")})

    with pytest.raises(StoreUnusable, match="no place yet"):
        store.purge(fenced_task(1), {("user", "user/secret.md")}, memory_base.roots)

    secret.rmdir()
    store.seal(fenced_task(1))
    assert secret.read_bytes() == note("Secret")


def test_a_commit_that_waits_in_another_root_holds_no_purge_up(memory_base, store, secret, tmp_path):
    other = MemoryBase(tmp_path, workspace="other")
    waiting = other.project / "p.md"
    memory_base.commit(store, fenced_task(1), {secret: note("hunter2")})
    blocked = open_store(memory_base.path, checkpoint=FolderAt("journal durable", waiting))
    other.commit(blocked, fenced_task(1, lane="default/other"), {waiting: note("P", kind="project")})

    store.purge(fenced_task(1), {("user", "user/secret.md")}, memory_base.roots)

    assert SECRET not in b"".join(tree(memory_base.path / "memlane").values())
    waiting.rmdir()
    store.seal(fenced_task(2, lane="default/other"))
    assert waiting.read_bytes() == note("P", kind="project")


def test_what_a_dream_merged_into_a_purged_document_goes_too_and_what_it_only_rewrote_stays(
    memory_base, store, secret
):
    source, older = memory_base.user / "source.md", memory_base.user / "older.md"
    rewritten = memory_base.user / "rewritten.md"
    memory_base.commit(store, fenced_task(1), {older: note("hunter2 first"), rewritten: note("Kept")})
    dreams = [
        (source, {source: note("hunter2 second"), older: None}),
        (secret, {secret: note("hunter2 third"), source: None, rewritten: note("Kept shorter")}),
    ]
    for fence, (_, edits) in enumerate(dreams, start=2):
        memory_base.commit(store, fenced_task(fence, kind="dream"), edits)
    forgetting = fenced_task(4, kind="forget")
    memory_base.commit(store, forgetting, {secret: note("Harmless")})
    show_log(memory_base.path)

    for _ in range(2):
        store.purge(forgetting, {("user", "user/secret.md")}, memory_base.roots)

    assert holders(memory_base) == []
    assert entry(memory_base, 3)["changes"][0]["new"] == note("Kept shorter").decode()
    assert read_log(memory_base.path)[0].files == {"memories/rewritten.md": note("Kept")}


def test_what_a_purge_left_of_a_document_is_told_as_nobody_elses_change(memory_base, store, secret, told):
    store.purge(told, {("user", "user/secret.md")}, memory_base.roots)
    memory_base.commit(store, fenced_task(4), {secret: note("Later")})
    memory_base.put(secret, note("By hand"))
    memory_base.commit(store, fenced_task(5), {secret: note("Last")})

    subjects = [logged.subject for logged in show_log(memory_base.path)]

    assert subjects[-3:] == ["r4 remember:", "external: found by r5", "r5 remember:"]
    assert "external: found by r4" not in subjects


def test_a_preview_of_another_workspaces_document_of_the_same_path_stays(memory_base, store, tmp_path):
    other, path = MemoryBase(tmp_path, workspace="other"), "plan.md"
    previewed = fenced_task(1, lane="default/fedcba9876543210")
    store.seal(previewed)
    store.preview(
        other.stage(store, previewed, {other.project / path: note("Plan", kind="project")}),
        result_of=lambda commit: describe(commit) | {"summary": "Shown."},
    )
    forgetting = fenced_task(1)
    memory_base.commit(store, forgetting, {memory_base.project / path: note("hunter2", kind="project")})

    store.purge(forgetting, {("project", path)}, memory_base.roots)

    applying = fenced_task(2, lane=previewed.lane)
    store.seal(applying)
    result = store.apply(applying, previewed.id, other.roots, result_of=lambda commit, _: describe(commit))
    assert result["filesTouched"] == [str(other.project / path)]


def test_what_was_kept_without_telling_whose_it_is_goes_with_a_document_that_it_may_have_been(
    memory_base, store, told
):
    external = memory_base.path / "memlane/external"
    beside = memory_base.put(memory_base.user / "user/.memlane-0a-1.old", note("hunter2"))
    elsewhere = memory_base.put(memory_base.user / "other/.memlane-0a-2.old", note("Not this one"))
    mend(memory_base.path, examine(memory_base.path, [memory_base.user], settled_ms=0))
    (external / "2-17-cut.bytes").write_bytes(note("hunter2 cut short"))
    (external / "9-17-cut.bytes").write_bytes(note("Of another commit"))

    store.purge(told, {("user", "user/secret.md")}, memory_base.roots)

    assert not beside.exists()
    assert not elsewhere.exists()
    assert holders(memory_base) == []
    kept = {path.read_bytes() for path in external.glob("*.bytes")}
    assert kept == {note("Not this one"), note("Of another commit")}


def test_a_purge_tells_which_tasks_had_to_do_with_it(memory_base, store, secret, tmp_path):
    other = MemoryBase(tmp_path, workspace="other")
    first, unrelated = fenced_task(1), fenced_task(2)
    memory_base.commit(store, first, {secret: note("hunter2")})
    memory_base.commit(store, unrelated, {memory_base.user / "other.md": note("Other")})
    theirs = fenced_task(1, lane="default/other")
    other.commit(store, theirs, {secret: note("hunter2 theirs")})
    dry = fenced_task(3)
    store.seal(dry)
    store.preview(memory_base.stage(store, dry, {secret: note("hunter2 again")}), result_of=describe)
    known = fenced_task(3)
    quoting = {"summary": "Already known: hunter2.", "knownAt": {"scope": "user", "path": "user/secret.md"}}
    store.seal(known)
    store.commit(memory_base.transaction(known), result_of=lambda _: quoting)
    forgetting = fenced_task(3, kind="forget")
    memory_base.commit(store, forgetting, {secret: None})

    told = [store.purge(forgetting, {("user", "user/secret.md")}, memory_base.roots) for _ in range(2)]

    assert told == [tuple((task.lane, task.id) for task in (first, theirs, dry, known, forgetting))] * 2
    assert "hunter2" not in str(entry(memory_base, 5))


def test_old_commits_lose_their_texts_and_the_history_shows_them_all_the_same(memory_base, store, told):
    before = read_log(memory_base.path)

    pruned = [store.prune(before_ms=FAR_MS) for _ in range(2)]

    assert pruned == [3, 0]
    assert all(change["pruned"] for seq in (1, 2, 3) for change in entry(memory_base, seq)["changes"])
    assert not list((memory_base.path / "memlane/external").iterdir())
    assert read_log(memory_base.path) == before
    with pytest.raises(RevisionPruned):
        Revisions(memory_base.path).diff("r1", memory_base.roots)


def test_a_prune_goes_on_where_the_last_one_ended(memory_base, store, told, monkeypatch):
    monkeypatch.setattr("memory.cleaning.BATCH", 2)

    assert [store.prune(before_ms=FAR_MS) for _ in range(3)] == [2, 1, 0]


def test_young_commits_and_those_the_history_does_not_show_keep_their_texts(memory_base, store, told):
    at_ms = Revisions(memory_base.path).find("r1", memory_base.roots).at_ms
    assert store.prune(before_ms=at_ms) == 0
    memory_base.commit(store, fenced_task(4), {memory_base.user / "late.md": note("Late")})

    assert [store.prune(before_ms=FAR_MS) for _ in range(2)] == [3, 0]

    assert entry(memory_base, 4)["changes"][0]["new"] == note("Late").decode()


def test_a_prune_that_was_cut_short_is_done_by_the_next_one(memory_base, store, told):
    for step in ("external removed", "journal durable", "state renamed"):
        with pytest.raises(StoreUnusable):
            open_store(memory_base.path, checkpoint=FailAt(step)).prune(before_ms=FAR_MS)

    while store.prune(before_ms=FAR_MS):
        pass

    assert all(change["pruned"] for seq in (1, 2, 3) for change in entry(memory_base, seq)["changes"])


@pytest.mark.parametrize(
    "step", ["history locked", "external removed", "journal written", "journal durable", "state renamed"]
)
def test_a_prune_that_was_killed_is_done_by_the_next_one(memory_base, store, told, step):
    before = read_log(memory_base.path)
    code = in_child(prune, memory_base, before_ms=FAR_MS, checkpoint=KillAt(name=step))
    assert code == -signal.SIGKILL

    while store.prune(before_ms=FAR_MS):
        pass

    assert all(change["pruned"] for seq in (1, 2, 3) for change in entry(memory_base, seq)["changes"])
    assert not list((memory_base.path / "memlane/external").iterdir())
    assert show_log(memory_base.path) == before


def test_a_history_that_is_made_anew_after_a_prune_says_who_and_when(memory_base, store, told):
    store.prune(before_ms=FAR_MS)
    repository_of(memory_base.path).rename(memory_base.path / "aside")

    memory_base.commit(store, fenced_task(4), {memory_base.user / "new.md": note("New")})

    log = show_log(memory_base.path)
    assert [logged.subject for logged in log] == [f"r{seq} remember:" for seq in (1, 2, 3, 4)]
    assert [list(logged.files) for logged in log] == [[], [], [], ["memories/new.md"]]
