"""Find the documents of a root on disk."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory.beneath import open_folder, open_regular, open_subfolder
from memory.document import Document, parse_document
from memory.errors import DocumentMissing, PathEscape, PathRefused
from memory.frontmatter import MAX_HEADER_BYTES
from memory.names import TEMPORARY_PREFIX, is_document

MAX_DOCUMENTS = 10_000
MAX_DEPTH = 16
MAX_ENTRIES_PER_FOLDER = 20_000
_HEAD_BYTES = MAX_HEADER_BYTES + 64  # fences and byte order mark


@dataclass(frozen=True, slots=True)
class Found:
    """A document on disk.

    Attributes:
        path: relative to the root, ``/`` between names.
        document: read from the first 8 KiB; its body is cut there.
    """

    path: str
    document: Document
    mtime_ns: int


def scan_root(root: Path) -> list[Found]:
    """Read the header of every memory below ``root``; what is no memory, or a link, is left out.

    At most 10,000 documents, 16 folders deep; a missing root has none.
    """
    found: list[Found] = []
    for folder, path in _walk_root(root):
        memory = _read_head(folder, path)
        if memory is not None:
            found.append(memory)
    return found


def list_documents(root: Path) -> list[str]:
    """Relative paths of every document file below ``root``, memory or not, links left out; same limits."""
    return [path for _, path in _walk_root(root)]


def list_names(folder: int) -> list[os.DirEntry[str]]:
    """Entries of an open folder by name, without our temporary files; at most 20,000."""
    with os.scandir(folder) as entries:
        names = [entry for entry, _ in zip(entries, range(MAX_ENTRIES_PER_FOLDER), strict=False)]
    kept = (entry for entry in names if not entry.name.startswith(TEMPORARY_PREFIX))
    return sorted(kept, key=lambda entry: entry.name)


def _walk_root(root: Path) -> Iterator[tuple[int, str]]:
    try:
        with open_folder(root) as top:
            for (folder, path), _ in zip(_walk(top, "", MAX_DEPTH), range(MAX_DOCUMENTS), strict=False):
                yield folder, path
    except DocumentMissing:
        return


def _walk(folder: int, prefix: str, depth: int) -> Iterator[tuple[int, str]]:
    for entry in list_names(folder):
        path = prefix + entry.name
        if entry.is_file(follow_symlinks=False):
            if is_document(entry.name):
                yield folder, path
        elif depth and entry.is_dir(follow_symlinks=False):
            below = _open_below(folder, entry.name)
            if below is not None:
                try:
                    yield from _walk(below, path + "/", depth - 1)
                finally:
                    os.close(below)


def _open_below(folder: int, name: str) -> int | None:
    try:
        return open_subfolder(folder, name)
    except OSError:  # unreadable, gone, or swapped for a link since it was listed
        return None


def _read_head(folder: int, path: str) -> Found | None:
    try:
        with open_regular(folder, path.rpartition("/")[2]) as opened:
            document = parse_document(os.read(opened, _HEAD_BYTES))
            found = os.fstat(opened)
    except (DocumentMissing, PathEscape, PathRefused, PermissionError):
        return None
    return Found(path, document, found.st_mtime_ns) if document is not None else None
