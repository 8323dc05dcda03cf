"""A commit that is killed at any step while roots are blocked is whole or absent, and gets its place."""

import json
import signal
from pathlib import Path

import pytest

from memory.index import build_index
from memory.store import open_store
from tests.support.memory import BOTH, Edits, FolderAt, KillAt, MemoryBase, fenced_task, note, revision, tree
from tests.support.memory_process import commit, in_child, seal

SLICES = 3
BLOCKED, OTHER = note("Blocked", kind="project"), note("Other", kind="project")


class BlockThenKill:
    """Puts a folder in a document's place the moment it is committed, and kills at the n-th step."""

    def __init__(self, path: Path, step: int) -> None:
        self.block = FolderAt("journal linked", path)
        self.kill = KillAt(step)

    def __call__(self, name: str) -> None:
        self.block(name)
        self.kill(name)


class Two:
    """A base with two workspaces; a commit of the first one changes both of its roots."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.first = MemoryBase(folder)
        self.second = MemoryBase(folder, workspace="other")
        self.path = self.first.project / "sub/blocked.md"
        self.shared = self.first.put(self.first.user / "shared.md", note("Old"))
        self.run = fenced_task(1, lane="default/first")
        self.edits: Edits = {self.path: BLOCKED, self.shared: note("New")}
        store, before = open_store(self.first.path), fenced_task(1, lane="default/before")
        store.seal(before)
        store.begin(before, self.first.roots, writable=BOTH)  # the index is right from here on

    def block(self) -> None:
        store = open_store(self.first.path, checkpoint=FolderAt("journal durable", self.path))
        assert revision(self.first.commit(store, self.run, self.edits)) == "r1"
        assert self.path.is_dir()

    def unblock(self) -> None:
        if self.path.is_dir():
            self.path.rmdir()

    def left_over(self) -> list[str]:
        folders = [self.first.user, self.first.project, self.second.project, self.first.path / "memlane/tmp"]
        return [
            path for path in tree(*folders) if ".memlane-" in path or "/tmp/" in path.partition("base")[2]
        ]

    def state(self) -> dict[str, object]:
        found: dict[str, object] = json.loads((self.first.path / "memlane/state/applied").read_bytes())
        return found


def steps_of(folder, blocked):
    two, names = Two(folder), list[str]()
    if blocked:
        two.block()
        store = open_store(two.first.path, checkpoint=names.append)
        edits: Edits = {two.second.project / "x.md": OTHER}
        two.second.commit(store, fenced_task(1, lane="default/second"), edits)
    else:

        def note_step(name):
            FolderAt("journal durable", two.path)(name)
            names.append(name)

        two.first.commit(open_store(two.first.path, checkpoint=note_step), two.run, two.edits)
        assert two.path.is_dir()
    return names


@pytest.mark.parametrize("part", range(SLICES))
def test_killed_at_any_step_beside_a_blocked_root_another_lanes_commit_is_whole_or_absent(tmp_path, part):
    names = steps_of(tmp_path / "count", blocked=True)
    assert {"part written", "journal linked", "part durable", "applied", "state renamed"} <= set(names)

    for step in range(part, len(names), SLICES):
        two = Two(tmp_path / f"step-{step}")
        two.block()
        run, path = fenced_task(1, lane="default/second"), two.second.project / "x.md"

        code = in_child(commit, two.second, run, {path: OTHER}, checkpoint=KillAt(step))
        assert code == -signal.SIGKILL, names[step]
        result = open_store(two.first.path).seal(run)

        assert path.exists() == (result is not None), names[step]
        assert two.path.is_dir()
        two.unblock()
        assert revision(open_store(two.first.path).seal(two.run)) == "r1"
        assert two.path.read_bytes() == BLOCKED
        assert (two.first.project / "MEMORY.md").read_text() == build_index(two.first.project)
        assert two.left_over() == [], names[step]


@pytest.mark.parametrize("part", range(SLICES))
def test_killed_at_any_step_a_commit_that_one_of_its_roots_blocks_is_whole_or_absent(tmp_path, part):
    names = steps_of(tmp_path / "count", blocked=False)

    for step in range(part, len(names), SLICES):
        two = Two(tmp_path / f"step-{step}")

        code = in_child(commit, two.first, two.run, two.edits, checkpoint=BlockThenKill(two.path, step))
        assert code == -signal.SIGKILL, names[step]
        result = open_store(two.first.path).seal(two.run)

        assert two.shared.read_bytes() == (note("Old") if result is None else note("New")), names[step]
        assert two.path.is_dir() == (result is not None)
        two.unblock()
        assert open_store(two.first.path).seal(two.run) == result
        assert two.path.exists() == (result is not None)
        assert two.left_over() == [], names[step]
        assert not (two.first.path / "memlane/external").exists()


def test_killed_again_and_again_while_a_blocked_commit_is_brought_to_its_place_it_ends_whole(tmp_path):
    two = Two(tmp_path / "two")
    two.block()
    two.unblock()

    codes = [in_child(seal, two.first, two.run, checkpoint=KillAt(step), native=True) for step in range(20)]

    assert -signal.SIGKILL in codes
    assert codes[-1] == 0
    assert two.path.read_bytes() == BLOCKED
    assert two.state() == {"seq": 1, "open": []}
    assert two.left_over() == []
