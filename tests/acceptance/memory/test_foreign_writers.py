"""Editors, other stores and attackers on the same files."""

import contextlib
import json
import os
from functools import partial

import pytest

from core.errors import MemlaneError
from memory.errors import CommitConflict
from memory.index import build_index
from memory.renames import Renames
from memory.store import open_store
from tests.support.memory import BOTH, describe, in_child, note, start_child, task_run, tree


def externals(bench):
    folder = bench.base / "memlane/external"
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return records, [path.read_bytes() for path in sorted(folder.glob("*.bytes"))]


def at(step, action):
    """Checkpoint that acts once, at the first step of that name."""
    waiting = [action]
    return lambda name: waiting.pop()() if name == step and waiting else None


def test_an_edit_between_read_and_commit_is_a_conflict_and_stays(bench):
    path = bench.put(bench.user / "tea.md", note("Tea"))
    store, run = open_store(bench.base), task_run()
    store.seal(run)
    transaction = store.begin(run, bench.roots, writable=BOTH)
    transaction.read(str(path))
    bench.put(path, note("Edited by hand"))
    transaction.write(str(path), note("Ours"))

    with pytest.raises(CommitConflict) as caught:
        store.commit(transaction, result_of=describe)

    assert caught.value.paths == (str(path),)
    assert path.read_bytes() == note("Edited by hand")
    assert store.seal(run) is None


@pytest.mark.parametrize("appears", ["tea.md", "Tea.md"])
def test_a_created_document_that_exists_meanwhile_is_a_conflict(bench, appears):
    store, run = open_store(bench.base), task_run()
    store.seal(run)
    transaction = store.begin(run, bench.roots, writable=BOTH)
    transaction.write(str(bench.user / "tea.md"), note("Ours"))
    bench.put(bench.user / appears, note("Theirs"))

    with pytest.raises(CommitConflict):
        store.commit(transaction, result_of=describe)

    assert (bench.user / appears).read_bytes() == note("Theirs")


@pytest.mark.parametrize("native", [True, False], ids=["renameat2", "hard-links"])
def test_an_edit_after_the_journal_was_written_is_kept_in_the_store(bench, native):
    path = bench.put(bench.user / "tea.md", note("Tea"))
    edit = at("journal durable", lambda: bench.put(path, note("Edited by hand")))
    store = open_store(bench.base, checkpoint=edit, renames=Renames(native=native))

    bench.commit(store, task_run(), {path: note("Ours")})

    records, copies = externals(bench)
    assert path.read_bytes() == note("Ours")
    assert copies == [note("Edited by hand")]
    assert [record["path"] for record in records] == [str(path)]


def test_an_edit_of_a_document_that_is_removed_is_kept_in_the_store(bench):
    path = bench.put(bench.user / "tea.md", note("Tea"))
    edit = at("journal durable", lambda: bench.put(path, note("Edited by hand")))

    bench.commit(open_store(bench.base, checkpoint=edit), task_run(), {path: None})

    assert not path.exists()
    assert externals(bench)[1] == [note("Edited by hand")]


@pytest.mark.parametrize("native", [True, False], ids=["renameat2", "hard-links"])
def test_a_file_that_appears_in_the_last_moment_is_kept_in_the_store(bench, native):
    path = bench.user / "tea.md"
    edit = at("part ready", lambda: bench.put(path, note("Theirs")))
    store = open_store(bench.base, checkpoint=edit, renames=Renames(native=native))

    bench.commit(store, task_run(), {path: note("Ours")})

    assert path.read_bytes() == note("Ours")
    assert externals(bench)[1] == [note("Theirs")]


def test_a_document_deleted_in_the_last_moment_is_written_all_the_same(bench):
    path = bench.put(bench.user / "tea.md", note("Tea"))
    store = open_store(bench.base, checkpoint=at("part ready", path.unlink))

    bench.commit(store, task_run(), {path: note("Ours")})

    assert path.read_bytes() == note("Ours")


def test_a_link_swapped_in_for_a_document_is_replaced_and_its_target_untouched(bench, tmp_path):
    target = bench.put(tmp_path / "outside.md", b"secret")
    path = bench.put(bench.user / "tea.md", note("Tea"))

    def swap():
        path.unlink()
        path.symlink_to(target)

    bench.commit(
        open_store(bench.base, checkpoint=at("journal durable", swap)), task_run(), {path: note("Ours")}
    )

    assert target.read_bytes() == b"secret"
    assert path.read_bytes() == note("Ours")
    assert not path.is_symlink()
    assert [record.get("link_to") for record in externals(bench)[0]] == [str(target)]


def test_an_index_that_someone_else_wrote_is_rebuilt_at_the_next_task(bench):
    store = open_store(bench.base)
    bench.commit(store, task_run(), {bench.user / "tea.md": note()})
    bench.put(bench.user / "MEMORY.md", b"- [forged](x.md)")
    bench.put(bench.project / "by-hand.md", note("By hand", kind="project"))

    store.begin(task_run(), bench.roots, writable=BOTH)

    for root in (bench.user, bench.project):
        assert (root / "MEMORY.md").read_text() == build_index(root) != ""


def test_a_link_in_place_of_the_index_is_replaced_and_not_followed(bench, tmp_path):
    target = bench.put(tmp_path / "outside.md", b"secret")
    (bench.user / "MEMORY.md").symlink_to(target)

    bench.commit(open_store(bench.base), task_run(), {bench.user / "tea.md": note()})

    assert target.read_bytes() == b"secret"
    assert (bench.user / "MEMORY.md").read_text() == build_index(bench.user)


def test_a_folder_in_place_of_the_index_does_not_stop_a_commit(bench):
    (bench.user / "MEMORY.md").mkdir()

    result = bench.commit(open_store(bench.base), task_run(), {bench.user / "tea.md": note()})

    assert result["revision"] == "r1"


def test_two_processes_commit_at_once_and_nothing_is_lost(bench):
    def work(lane):
        store = open_store(bench.base)
        for number in range(6):
            path = bench.user / f"{lane}/n{number}.md"
            bench.commit(
                store, task_run(number + 1, lane=f"default/{lane}"), {path: note(f"{lane} {number}")}
            )

    children = [start_child(partial(work, lane)) for lane in ("one", "two")]
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]

    assert codes == [0, 0]
    assert len(list(bench.user.glob("*/n?.md"))) == 12
    assert sorted(path.name for path in (bench.base / "memlane/journal").iterdir()) == [
        f"{seq:012d}.json" for seq in range(1, 13)
    ]
    assert (bench.user / "MEMORY.md").read_text() == build_index(bench.user)


def test_two_processes_that_edit_one_document_never_overwrite_each_other(bench):
    path = bench.put(bench.user / "log.md", note("Log", body="\n"))

    def work(mark):
        store = open_store(bench.base)
        for fence in range(1, 6):
            run = task_run(fence, lane=f"default/{mark}")
            store.seal(run)
            while True:
                transaction = store.begin(run, bench.roots, writable=BOTH)
                content = transaction.read(str(path)) + f"- {mark} {fence}\n".encode()
                transaction.write(str(path), content)
                with contextlib.suppress(CommitConflict):
                    store.commit(transaction, result_of=describe)
                    break

    children = [start_child(partial(work, mark)) for mark in ("one", "two")]
    codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]

    assert codes == [0, 0]
    assert len([line for line in path.read_text().splitlines() if line.startswith("- ")]) == 10
    assert externals(bench) == ([], [])


def test_swapping_a_folder_and_a_link_during_commits_changes_nothing_outside(bench, tmp_path):
    outside = tmp_path / "outside"
    bench.put(outside / "x.md", b"secret")
    folder, link = bench.user / "f", bench.user / "link"
    folder.mkdir()
    link.symlink_to(outside)

    def swap():
        root = os.open(bench.user, os.O_RDONLY)
        for _ in range(1_000):
            Renames().exchange(root, "f", "link", backup="unused")

    child, store, done = start_child(swap), open_store(bench.base), False
    fence = 0
    while not done:
        fence += 1
        with contextlib.suppress(MemlaneError):
            bench.commit(store, task_run(fence), {folder / "x.md": note(f"Ours {fence}")})
        done = os.waitpid(child, os.WNOHANG)[0] == child

    assert tree(outside) == {str(outside / "x.md"): b"secret"}
    assert in_child(lambda: bench.commit(store, task_run(fence + 1), {folder / "x.md": note("Last")})) == 0
    assert (folder / "x.md").read_bytes() == note("Last")
