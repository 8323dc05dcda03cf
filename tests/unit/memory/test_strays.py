"""What people and tools leave in the store's folders is in nobody's way."""

import os

import pytest

from memory.store import open_store
from tests.support.memory import FolderAt, fenced_task, note, revision


def test_what_is_no_plain_file_among_the_drafts_stays_and_stops_nobody(memory_base, tmp_path):
    store, drafts = open_store(memory_base.path), memory_base.path / "memlane/tmp"
    memory_base.put(drafts / "folder/inner", b"mine")
    (drafts / "folder.intent").mkdir()
    (drafts / "link").symlink_to(tmp_path)
    os.mkfifo(drafts / "fifo.intent")

    assert revision(memory_base.commit(store, fenced_task(), {memory_base.user / "a.md": note()})) == "r1"

    assert sorted(path.name for path in drafts.iterdir()) == [
        "fifo.intent",
        "folder",
        "folder.intent",
        "link",
    ]
    store.require_writable()


@pytest.mark.parametrize("folder", ["journal", "fences", "tasks", "state", "external", "unknown", ""])
def test_odd_names_in_a_folder_of_the_store_stop_nobody(memory_base, folder):
    place = memory_base.path / "memlane" / folder
    store = open_store(memory_base.path)
    memory_base.put(place / "sub/000000000002.json", b"{")
    for name in ("000000000009.json.tmp", "1.json", " ", "é\n.json", "-", "applied~", ".intent"):
        memory_base.put(place / name, b"{")
    path = memory_base.put(memory_base.user / "a.md", note("Old"))
    edited = open_store(
        memory_base.path,
        checkpoint=lambda name: path.write_bytes(note("By hand")) if name == "journal durable" else None,
    )

    results = [memory_base.commit(edited, fenced_task(fence), {path: note(f"A{fence}")}) for fence in (1, 2)]

    assert [revision(result) for result in results] == ["r1", "r2"]
    assert store.resolve(fenced_task(3), close=True) is None
    assert len(list((memory_base.path / "memlane/external").glob("*.bytes"))) == 2


def test_a_folder_in_the_place_of_one_lanes_fence_stops_that_lane_only(memory_base):
    store = open_store(memory_base.path)
    store.seal(fenced_task(lane="default/one"))
    fence = memory_base.path / "memlane/fences/default%2Fone.json"
    fence.unlink()
    FolderAt("now", fence)("now")

    assert store.seal(fenced_task(lane="default/two")) is None
