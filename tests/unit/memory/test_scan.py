import os

import pytest

from memory import scan
from memory.names import MAX_DEPTH
from memory.scan import LeftOut, list_documents, read_documents, walk_documents
from memory.validation import MAX_FILE_BYTES
from tests.support.memory import note


@pytest.fixture
def root(tmp_path):
    return tmp_path.resolve()


def put(root, path, content=b"text"):
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)
    return place


def left_out(root):
    told: list[LeftOut] = []
    for _ in read_documents(root, "user", tell=told.append):
        pass
    return told


def test_documents_are_read_with_their_time(root):
    os.utime(put(root, "a/b.md", note()), ns=(1, 5))

    (found,) = read_documents(root, "project")

    assert (found.scope, found.path, found.content, found.mtime_ns) == ("project", "a/b.md", note(), 5)
    assert left_out(root) == []


def test_what_is_no_document_is_not_left_out(root):
    for name in ("MEMORY.md", "a.txt", ".memlane-x.tmp"):
        put(root, name)

    assert (list_documents(root), left_out(root)) == ([], [])


def test_a_missing_root_has_no_documents(root):
    assert list(read_documents(root / "none", "user")) == []


def test_links_are_told(root):
    target = put(root, "folder/a.md")
    (root / "link.md").symlink_to(target)
    (root / "folder-link").symlink_to(target.parent)

    assert left_out(root) == [LeftOut("link", "folder-link"), LeftOut("link", "link.md")]


def test_a_document_with_a_second_name_is_told(root):
    (root / "second.txt").hardlink_to(put(root, "a.md"))

    assert left_out(root) == [LeftOut("link", "a.md")]


def test_a_document_that_is_too_large_is_told(root):
    put(root, "big.md", b"x" * (MAX_FILE_BYTES + 1))
    put(root, "fits.md", b"x" * MAX_FILE_BYTES)

    assert left_out(root) == [LeftOut("too_large", "big.md")]


def test_a_folder_that_lies_too_deep_is_told(root):
    folders = "/".join("f" for _ in range(MAX_DEPTH + 1))
    put(root, f"{folders}/a.md")

    assert left_out(root) == [LeftOut("too_deep", folders)]


def test_the_first_of_too_many_documents_is_told(root, monkeypatch):
    monkeypatch.setattr(scan, "MAX_DOCUMENTS", 2)
    for name in ("a.md", "b.md", "c/d.md", "e.md"):
        put(root, name)

    assert list_documents(root) == ["a.md", "b.md"]
    assert left_out(root) == [LeftOut("too_many_documents", "c/d.md")]


def test_as_many_documents_as_are_allowed_are_not_too_many(root, monkeypatch):
    monkeypatch.setattr(scan, "MAX_DOCUMENTS", 1)
    put(root, "a.md")

    assert left_out(root) == []


def test_a_folder_with_too_many_names_is_told(root, monkeypatch):
    monkeypatch.setattr(scan, "MAX_ENTRIES_PER_FOLDER", 2)
    for name in ("a.md", "b.md", "c.md"):
        put(root / "many", name)

    told: list[LeftOut] = []
    assert len(list(walk_documents(root, tell=told.append))) == 2
    assert told == [LeftOut("too_many_names", "many")]


def test_a_folder_that_is_swapped_for_a_link_while_the_scan_runs_is_told(root):
    put(root, "a.md")
    put(root, "later/b.md")
    told: list[LeftOut] = []
    found = walk_documents(root, tell=told.append)
    next(found)

    (root / "later").rename(root / "elsewhere")
    (root / "later").symlink_to(root / "elsewhere")

    assert list(found) == []
    assert told == [LeftOut("unreadable", "later")]
