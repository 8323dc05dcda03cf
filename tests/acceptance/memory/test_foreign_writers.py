"""Editors, other stores and attackers on the same files."""

import contextlib
import json

import pytest

from core.errors import MemlaneError
from memory.errors import CommitConflict
from memory.index import build_index
from memory.renames import Renames
from memory.store import open_store
from tests.support.memory import BOTH, describe, fenced_task, note, tree
from tests.support.memory_process import (
    append_lines,
    commit,
    commit_several,
    exit_code,
    in_child,
    start_child,
    swap_names,
)


def externals(memory_base):
    folder = memory_base.path / "memlane/external"
    records = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    return records, [path.read_bytes() for path in sorted(folder.glob("*.bytes"))]


def at(step, action):
    """Checkpoint that acts once, at the first step of that name."""
    waiting = [action]
    return lambda name: waiting.pop()() if name == step and waiting else None


def test_an_edit_between_read_and_commit_is_a_conflict_and_stays(memory_base):
    path = memory_base.put(memory_base.user / "tea.md", note("Tea"))
    store, run = open_store(memory_base.path), fenced_task()
    store.seal(run)
    transaction = store.begin(run, memory_base.roots, writable=BOTH)
    transaction.read(str(path))
    memory_base.put(path, note("Edited by hand"))
    transaction.write(str(path), note("Ours"))

    with pytest.raises(CommitConflict) as caught:
        store.commit(transaction, result_of=describe)

    assert caught.value.paths == (str(path),)
    assert path.read_bytes() == note("Edited by hand")
    assert store.seal(run) is None


@pytest.mark.parametrize("appears", ["tea.md", "Tea.md"])
def test_a_created_document_that_exists_meanwhile_is_a_conflict(memory_base, appears):
    store, run = open_store(memory_base.path), fenced_task()
    store.seal(run)
    transaction = store.begin(run, memory_base.roots, writable=BOTH)
    transaction.write(str(memory_base.user / "tea.md"), note("Ours"))
    memory_base.put(memory_base.user / appears, note("Theirs"))

    with pytest.raises(CommitConflict):
        store.commit(transaction, result_of=describe)

    assert (memory_base.user / appears).read_bytes() == note("Theirs")


@pytest.mark.parametrize("native", [True, False], ids=["renameat2", "hard-links"])
def test_an_edit_after_the_journal_was_written_is_kept_in_the_store(memory_base, native):
    path = memory_base.put(memory_base.user / "tea.md", note("Tea"))
    edit = at("journal durable", lambda: memory_base.put(path, note("Edited by hand")))
    store = open_store(memory_base.path, checkpoint=edit, renames=Renames(native=native))

    memory_base.commit(store, fenced_task(), {path: note("Ours")})

    records, copies = externals(memory_base)
    assert path.read_bytes() == note("Ours")
    assert copies == [note("Edited by hand")]
    assert [record["path"] for record in records] == [str(path)]


def test_an_edit_of_a_document_that_is_removed_is_kept_in_the_store(memory_base):
    path = memory_base.put(memory_base.user / "tea.md", note("Tea"))
    edit = at("journal durable", lambda: memory_base.put(path, note("Edited by hand")))

    memory_base.commit(open_store(memory_base.path, checkpoint=edit), fenced_task(), {path: None})

    assert not path.exists()
    assert externals(memory_base)[1] == [note("Edited by hand")]


@pytest.mark.parametrize("native", [True, False], ids=["renameat2", "hard-links"])
def test_a_file_that_appears_in_the_last_moment_is_kept_in_the_store(memory_base, native):
    path = memory_base.user / "tea.md"
    edit = at("part ready", lambda: memory_base.put(path, note("Theirs")))
    store = open_store(memory_base.path, checkpoint=edit, renames=Renames(native=native))

    memory_base.commit(store, fenced_task(), {path: note("Ours")})

    assert path.read_bytes() == note("Ours")
    assert externals(memory_base)[1] == [note("Theirs")]


def test_a_document_deleted_in_the_last_moment_is_written_all_the_same(memory_base):
    path = memory_base.put(memory_base.user / "tea.md", note("Tea"))
    store = open_store(memory_base.path, checkpoint=at("part ready", path.unlink))

    memory_base.commit(store, fenced_task(), {path: note("Ours")})

    assert path.read_bytes() == note("Ours")


def test_a_link_swapped_in_for_a_document_is_replaced_and_its_target_untouched(memory_base, tmp_path):
    target = memory_base.put(tmp_path / "outside.md", b"secret")
    path = memory_base.put(memory_base.user / "tea.md", note("Tea"))

    def swap():
        path.unlink()
        path.symlink_to(target)

    memory_base.commit(
        open_store(memory_base.path, checkpoint=at("journal durable", swap)),
        fenced_task(),
        {path: note("Ours")},
    )

    assert target.read_bytes() == b"secret"
    assert path.read_bytes() == note("Ours")
    assert not path.is_symlink()
    assert [record.get("link_to") for record in externals(memory_base)[0]] == [str(target)]


def test_an_index_that_someone_else_wrote_is_rebuilt_at_the_next_task(memory_base):
    store = open_store(memory_base.path)
    memory_base.commit(store, fenced_task(), {memory_base.user / "tea.md": note()})
    memory_base.put(memory_base.user / "MEMORY.md", b"- [forged](x.md)")
    memory_base.put(memory_base.project / "by-hand.md", note("By hand", kind="project"))

    store.begin(fenced_task(), memory_base.roots, writable=BOTH)

    for root in (memory_base.user, memory_base.project):
        assert (root / "MEMORY.md").read_text() == build_index(root) != ""


def test_a_link_in_place_of_the_index_is_replaced_and_not_followed(memory_base, tmp_path):
    target = memory_base.put(tmp_path / "outside.md", b"secret")
    (memory_base.user / "MEMORY.md").symlink_to(target)

    memory_base.commit(open_store(memory_base.path), fenced_task(), {memory_base.user / "tea.md": note()})

    assert target.read_bytes() == b"secret"
    assert (memory_base.user / "MEMORY.md").read_text() == build_index(memory_base.user)


def test_a_folder_in_place_of_the_index_does_not_stop_a_commit(memory_base):
    (memory_base.user / "MEMORY.md").mkdir()

    result = memory_base.commit(
        open_store(memory_base.path), fenced_task(), {memory_base.user / "tea.md": note()}
    )

    assert result["revision"] == "r1"


def test_two_processes_commit_at_once_and_nothing_is_lost(memory_base):
    children = [start_child(commit_several, memory_base, lane, count=6) for lane in ("one", "two")]

    assert [exit_code(child) for child in children] == [0, 0]
    assert len(list(memory_base.user.glob("*/n?.md"))) == 12
    assert sorted(path.name for path in (memory_base.path / "memlane/journal").iterdir()) == [
        f"{seq:012d}.json" for seq in range(1, 13)
    ]
    assert (memory_base.user / "MEMORY.md").read_text() == build_index(memory_base.user)


def test_two_processes_that_edit_one_document_never_overwrite_each_other(memory_base):
    path = memory_base.put(memory_base.user / "log.md", note("Log", body="\n"))

    children = [start_child(append_lines, memory_base, path, mark, count=5) for mark in ("one", "two")]

    assert [exit_code(child) for child in children] == [0, 0]
    assert len([line for line in path.read_text().splitlines() if line.startswith("- ")]) == 10
    assert externals(memory_base) == ([], [])


def test_swapping_a_folder_and_a_link_during_commits_changes_nothing_outside(memory_base, tmp_path):
    outside = tmp_path / "outside"
    memory_base.put(outside / "x.md", b"secret")
    folder, link = memory_base.user / "f", memory_base.user / "link"
    folder.mkdir()
    link.symlink_to(outside)

    swapper = start_child(swap_names, memory_base.user, "f", "link", count=1_000)
    store = open_store(memory_base.path)
    fence = 0
    while swapper.is_alive():
        fence += 1
        with contextlib.suppress(MemlaneError):
            memory_base.commit(store, fenced_task(fence), {folder / "x.md": note(f"Ours {fence}")})

    assert exit_code(swapper) == 0
    assert tree(outside) == {str(outside / "x.md"): b"secret"}
    assert in_child(commit, memory_base, fenced_task(fence + 1), {folder / "x.md": note("Last")}) == 0
    assert (folder / "x.md").read_bytes() == note("Last")
