"""Listing a workspace's memory."""

import tracemalloc
from pathlib import Path

import pytest

from memory.document import render_document
from memory.library import Library
from memory.paths import USER_ROOT_NAME
from memory.validation import MAX_FILE_BYTES
from tests.support.memory import note

WORKSPACE = "/srv/ws"


@pytest.fixture
def user_root(tmp_path: Path) -> Path:
    root = tmp_path / USER_ROOT_NAME
    root.mkdir()
    return root


def test_a_listing_of_large_documents_takes_little_memory(tmp_path: Path, user_root: Path) -> None:
    size = MAX_FILE_BYTES - 1_000
    for number in range(60):
        (user_root / f"{number}.md").write_bytes(note(body="x" * size))
    library = Library(tmp_path, local=False)
    library.documents(WORKSPACE)

    tracemalloc.start()
    listing = library.documents(WORKSPACE)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(listing.documents) == 60
    assert all(one.file.size_bytes > size for one in listing.documents)
    assert peak_bytes < 4 * MAX_FILE_BYTES


@pytest.mark.parametrize("filler", ["x", "\u8336", "\U0001f375"])
def test_a_header_of_any_legal_length_is_listed_as_it_is_read(
    tmp_path: Path, user_root: Path, filler: str
) -> None:
    long = filler * (7_900 // len(filler.encode()))
    content = render_document(type="user", name="Tea", description=long, body="\nTea.\n" + filler * 20_000)
    (user_root / "tea.md").write_bytes(b"\xef\xbb\xbf" + content)

    (listed,) = Library(tmp_path, local=False).documents(WORKSPACE).documents
    known = Library(tmp_path, local=False).read(WORKSPACE, "user", "tea.md")

    assert known is not None
    assert (listed.document.name, listed.document.description) == ("Tea", long)
    assert listed.document.description == known.document.description


def test_what_is_too_large_or_no_memory_is_not_listed(tmp_path: Path, user_root: Path) -> None:
    (user_root / "large.md").write_bytes(note(body="x" * MAX_FILE_BYTES))
    (user_root / "plain.md").write_text("no header")

    listing = Library(tmp_path, local=False).documents(WORKSPACE)

    assert listing.documents == ()
    assert [(one.cause, one.path) for one in listing.left_out] == [("too_large", "large.md")]
