"""Find the documents of a root on disk."""

import os
from collections.abc import Iterator
from pathlib import Path

from memory.beneath import open_folder, open_subfolder
from memory.errors import DocumentMissing
from memory.names import MAX_DEPTH, TEMPORARY_PREFIX, is_document

MAX_DOCUMENTS = 10_000
MAX_ENTRIES_PER_FOLDER = 20_000


def list_documents(root: Path) -> list[str]:
    """Relative paths of what ``walk_documents`` finds."""
    return [path for _, path in walk_documents(root)]


def list_names(folder: int) -> list[os.DirEntry[str]]:
    """Entries of an open folder by name, without our temporary files; at most 20,000."""
    with os.scandir(folder) as entries:
        names = [entry for entry, _ in zip(entries, range(MAX_ENTRIES_PER_FOLDER), strict=False)]
    kept = (entry for entry in names if not entry.name.startswith(TEMPORARY_PREFIX))
    return sorted(kept, key=lambda entry: entry.name)


def walk_documents(root: Path) -> Iterator[tuple[int, str]]:
    """Find every document file below ``root``, memory or not, links left out.

    At most 10,000 documents, 16 folders deep; a missing root has none.

    Yields:
        Descriptor of the open folder that holds the document, and its path relative to the root.
    """
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
