"""The git repository that shows people what the journal holds."""

import json
import shutil
import signal
import subprocess
import sys

import pytest

from memory.errors import StoreUnusable
from memory.files import StoreFiles
from memory.history import History
from memory.journal import Journal
from memory.lock import HISTORY_LOCK_NAME, hold_lock
from memory.paths import find_roots
from memory.renames import Renames
from memory.store import open_store
from tests.support.git_log import read_log, repository_of, show_log
from tests.support.memory import (
    BOTH,
    FailAt,
    FolderAt,
    KillAt,
    MemoryBase,
    describe,
    fenced_task,
    note,
    tree,
)
from tests.support.memory_process import in_child, show_history


@pytest.fixture
def store(memory_base):
    return open_store(memory_base.path)


def history(memory_base):
    files = StoreFiles(memory_base.path)
    return History(files, Journal(files), renames=Renames())


def subjects(memory_base):
    return [commit.subject for commit in show_log(memory_base.path)]


def saying(summary):
    return lambda commit: describe(commit) | {"summary": summary}


def test_each_task_is_a_commit_that_says_who_did_what(memory_base, store):
    run = fenced_task(1, task_id="remember-1")
    store.seal(run)
    transaction = store.begin(run, memory_base.roots, writable=BOTH)
    transaction.write(str(memory_base.user / "user/tea.md"), note())
    transaction.write(str(memory_base.project / "p.md"), note("P", kind="project"))

    store.commit(transaction, result_of=saying("Saved\n two\x1b things."))

    (logged,) = show_log(memory_base.path)
    project = memory_base.project.relative_to(memory_base.path)
    assert logged.message == (
        "r1 remember: Saved two  things.\n\n"
        "Task: remember-1\nLane: default/0123456789abcdef\nClient: tester\n"
    )
    assert logged.author.startswith("memlane")
    assert logged.files == {
        "memories/user/tea.md": note(),
        f"{project}/p.md": note("P", kind="project"),
    }


def test_a_removed_document_is_removed_and_a_task_without_changes_is_not_shown(memory_base, store):
    path = memory_base.user / "a.md"
    memory_base.commit(store, fenced_task(1), {path: note("A"), memory_base.user / "b.md": note("B")})
    memory_base.commit(store, fenced_task(2), {})
    memory_base.commit(store, fenced_task(3), {path: None})

    log = show_log(memory_base.path)

    assert [logged.subject for logged in log] == ["r1 remember:", "r3 remember:"]
    assert log[-1].files == {"memories/b.md": note("B")}


def test_a_history_that_shows_all_is_not_written_again(memory_base, store):
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note("A")})
    memory_base.commit(store, fenced_task(2), {})
    show_log(memory_base.path)
    position = memory_base.path / "memlane/history.git/memlane-position"
    before = position.stat().st_ino

    assert store.show_history() is False

    assert position.stat().st_ino == before


def test_what_others_changed_since_is_shown_first(memory_base, store):
    path = memory_base.user / "a.md"
    gone = memory_base.user / "gone.md"
    memory_base.commit(store, fenced_task(1), {path: note("A"), gone: note("Gone")})
    memory_base.put(path, note("By hand"))
    gone.unlink()

    memory_base.commit(store, fenced_task(2), {path: note("Ours"), gone: note("Again")})

    log = show_log(memory_base.path)
    assert [logged.subject for logged in log] == ["r1 remember:", "external: found by r2", "r2 remember:"]
    assert log[1].author.startswith("another writer")
    assert [logged.files.get("memories/a.md") for logged in log] == [note("A"), note("By hand"), note("Ours")]
    assert [logged.files.get("memories/gone.md") for logged in log] == [note("Gone"), None, note("Again")]


def test_what_a_commit_displaced_is_shown_before_it(memory_base):
    path = memory_base.put(memory_base.user / "a.md", note("Old"))
    store = open_store(
        memory_base.path,
        checkpoint=lambda step: path.write_bytes(note("By hand")) if step == "journal durable" else None,
    )

    memory_base.commit(store, fenced_task(1), {path: note("Ours")})

    states = [logged.files["memories/a.md"] for logged in show_log(memory_base.path)]
    assert states == [note("Old"), note("By hand"), note("Ours")]


def test_a_link_that_a_commit_displaced_is_not_followed_into_the_history(memory_base, tmp_path):
    secret = memory_base.put(tmp_path / "secret.md", b"secret")
    path = memory_base.user / "a.md"
    store = open_store(
        memory_base.path,
        checkpoint=lambda step: path.symlink_to(secret) if step == "journal durable" else None,
    )

    memory_base.commit(store, fenced_task(1), {path: note()})

    assert [logged.files for logged in show_log(memory_base.path)] == [{"memories/a.md": note()}]


def test_local_project_memory_is_shown_apart(memory_base, store):
    roots = find_roots(memory_base.path, str(memory_base.workspace), local=True)
    run = fenced_task()
    store.seal(run)
    transaction = store.begin(run, roots, writable=BOTH)
    transaction.write(str(roots.project / "a.md"), note())

    store.commit(transaction, result_of=describe)

    (logged,) = show_log(memory_base.path)
    assert list(logged.files) == [f"local{roots.project}/a.md"]


def test_a_history_that_was_removed_is_made_anew_from_the_journal(memory_base, store):
    path = memory_base.put(memory_base.user / "a.md", b"\xff no text")
    for fence in (1, 2, 3):
        memory_base.commit(store, fenced_task(fence), {path: note(f"A{fence}")})
    before = show_log(memory_base.path)
    shutil.rmtree(repository_of(memory_base.path))

    has_more = [history(memory_base).catch_up(most=2) for _ in range(2)]

    assert has_more == [True, False]
    assert read_log(memory_base.path) == before
    assert before[0].files == {"memories/a.md": b"\xff no text"}


def test_many_tasks_without_changes_do_not_hold_it_up(memory_base, store):
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note()})
    for fence in (2, 3, 4):
        memory_base.commit(store, fenced_task(fence), {})
    memory_base.commit(store, fenced_task(5), {memory_base.user / "b.md": note("B")})

    for _ in range(3):
        history(memory_base).catch_up(most=2)

    assert [logged.subject for logged in read_log(memory_base.path)] == ["r1 remember:", "r5 remember:"]


def test_a_history_without_news_is_not_written(memory_base, store):
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note()})
    show_log(memory_base.path)
    before = tree(repository_of(memory_base.path))

    assert store.show_history() is False

    assert tree(repository_of(memory_base.path)) == before


@pytest.mark.parametrize("name", ["refs/heads/main", "memlane-position"])
def test_a_damaged_history_is_told_and_made_anew_when_it_is_removed(memory_base, store, name):
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note("A")})
    show_log(memory_base.path)
    (repository_of(memory_base.path) / name).write_bytes(b"\xffdamaged")

    assert store.show_history() is False
    with pytest.raises(StoreUnusable, match=r"history\.git"):
        history(memory_base).catch_up(most=9)

    shutil.rmtree(repository_of(memory_base.path))
    assert subjects(memory_base) == ["r1 remember:"]


@pytest.mark.parametrize("step", ["history recorded", "history ready"])
def test_a_disk_that_is_full_while_the_history_is_written_is_told(memory_base, store, step):
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note()})

    assert open_store(memory_base.path, checkpoint=FailAt(step)).show_history() is False

    assert subjects(memory_base) == ["r1 remember:"]


def test_a_link_in_the_place_of_the_history_is_not_followed(memory_base, store, tmp_path):
    (tmp_path / "outside").mkdir()
    repository_of(memory_base.path).symlink_to(tmp_path / "outside")
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note()})

    assert store.show_history() is False

    assert list((tmp_path / "outside").iterdir()) == []


def test_a_busy_history_is_left_as_it_is(memory_base, store, monkeypatch):
    monkeypatch.setattr("memory.history.WAIT_MS", 0)
    memory_base.commit(store, fenced_task(1), {memory_base.user / "a.md": note()})
    with store._files.open() as folder, hold_lock(folder, name=HISTORY_LOCK_NAME):
        assert store.show_history() is False
    assert read_log(memory_base.path) == []

    assert subjects(memory_base) == ["r1 remember:"]


def test_a_commit_that_waits_for_its_place_is_waited_for(tmp_path):
    first, second = MemoryBase(tmp_path), MemoryBase(tmp_path, workspace="other")
    path = first.project / "a.md"
    blocked = open_store(first.path, checkpoint=FolderAt("journal durable", path))
    first.commit(blocked, fenced_task(1), {path: note("A", kind="project")})

    store, other = open_store(first.path), second.project / "b.md"
    second.commit(store, fenced_task(1, lane="default/two"), {other: note("B", kind="project")})
    shown = subjects(first)
    path.rmdir()
    second.commit(store, fenced_task(2, lane="default/two"), {other: note("C", kind="project")})

    assert shown == []
    assert subjects(first) == ["r1 remember:", "r2 remember:", "r3 remember:"]


def test_killed_at_any_step_of_it_the_next_one_makes_it_whole(memory_base):
    store, path = open_store(memory_base.path), memory_base.user / "a.md"
    for fence, step in enumerate(("history locked", "history ready", "history recorded"), start=1):
        run = fenced_task(fence)
        memory_base.commit(store, run, {path: note(step)})
        code = in_child(show_history, memory_base, checkpoint=KillAt(name=step))
        assert code == -signal.SIGKILL
        lock = repository_of(memory_base.path) / "refs/heads/main.lock"
        if lock.parent.exists():
            lock.touch()  # what git leaves when it is killed in mid-step

    assert subjects(memory_base) == [f"r{seq} remember:" for seq in (1, 2, 3)]


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_itself_reads_it(memory_base, store):
    path = memory_base.put(memory_base.user / "a.md", note("A", body="\nold line\n"))
    memory_base.commit(store, fenced_task(1), {path: note("A", body="\nnew line\n")})
    show_log(memory_base.path)
    git = ["git", "--git-dir", str(repository_of(memory_base.path))]

    log = subprocess.run([*git, "log", "-p"], capture_output=True, text=True, check=True).stdout
    subprocess.run([*git, "fsck", "--strict"], check=True)
    subprocess.run([*git, "gc", "--quiet", "--prune=now"], check=True)
    memory_base.commit(store, fenced_task(2), {path: None})

    assert "r1 remember:" in log
    assert "-old line\n+new line" in log
    assert len(show_log(memory_base.path)) == 3


def test_entries_of_a_journal_that_kept_no_texts_are_shown_as_far_as_they_go(memory_base, store):
    path = memory_base.put(memory_base.user / "a.md", note("Old"))
    memory_base.commit(store, fenced_task(1), {path: note("New")})
    entry = memory_base.path / "memlane/journal/000000000001.json"
    facts = json.loads(entry.read_bytes())
    del facts["changes"][0]["before"]
    entry.write_text(json.dumps(facts))

    assert [logged.files for logged in show_log(memory_base.path)] == [{"memories/a.md": note("New")}]


def test_a_child_loads_nothing_of_git_before_it_needs_it():
    code = "import sys, agent.server; sys.exit('dulwich' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
