"""Find and read the documents of a root on disk, and tell what was left out."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from core.acp import Scope
from core.errors import InputError
from core.logs import get_logger
from memory.beneath import open_folder, open_regular, open_subfolder
from memory.descriptors import read_chunks
from memory.errors import DocumentMissing, TooLarge
from memory.frontmatter import HEAD_BYTES
from memory.names import MAX_DEPTH, is_document, is_temporary
from memory.validation import MAX_FILE_BYTES

MAX_DOCUMENTS = 10_000
MAX_ENTRIES_PER_FOLDER = 20_000
_log = get_logger(__name__)

_R = TypeVar("_R")

Cause = Literal[
    "too_many_documents", "too_many_names", "too_deep", "too_large", "link", "unreadable", "name_not_utf8"
]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that a scan did not look at.

    Attributes:
        path: relative to the root, empty for the root itself. With ``too_many_documents`` it is the first one
            of those that were left out, with ``too_many_names`` the folder.
    """

    cause: Cause
    path: str


Listener = Callable[[LeftOut], None]


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document file as it was read, memory or not.

    Attributes:
        path: relative to the root of the scope, ``/`` between names.
        mtime_ns: modification time, nanoseconds since the epoch.
    """

    scope: Scope
    path: str
    content: bytes
    mtime_ns: int

    @property
    def size_bytes(self) -> int:
        """How many bytes it has."""
        return len(self.content)


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """The beginning of a document file: enough for its header, if it has one that counts.

    Attributes:
        path, mtime_ns: as of a ``ReadDocument``.
        size_bytes: of the whole file.
    """

    scope: Scope
    path: str
    beginning: bytes
    size_bytes: int
    mtime_ns: int


def log_left_out(left_out: LeftOut) -> None:
    """Say in the log what a scan left out; links, which people put there on purpose, only for debugging."""
    log = _log.debug if left_out.cause == "link" else _log.warning
    log("scan_left_out", cause=left_out.cause, path=left_out.path)


def list_documents(root: Path) -> list[str]:
    """Relative paths of what ``walk_documents`` finds."""
    return [path for _, path in walk_documents(root)]


def list_names(folder: int) -> list[os.DirEntry[str]]:
    """Entries of an open folder by name, without our temporary files; at most 20,000."""
    return [entry for entry in _list_all(folder)[0] if not is_temporary(entry.name)]


def _list_all(folder: int) -> tuple[list[os.DirEntry[str]], bool]:
    with os.scandir(folder) as entries:
        names = [entry for entry, _ in zip(entries, range(MAX_ENTRIES_PER_FOLDER + 1), strict=False)]
    kept = sorted(names[:MAX_ENTRIES_PER_FOLDER], key=lambda entry: entry.name)
    return kept, len(names) <= MAX_ENTRIES_PER_FOLDER


def read_documents(root: Path, scope: Scope, *, tell: Listener = log_left_out) -> Iterator[ReadDocument]:
    """Read what ``walk_documents`` finds, one by one.

    Args:
        tell: called with everything that is left out, also for being over 256 KiB or having a second hard
            link.
    """
    return _read_each(root, tell, lambda folder, path: read_document(folder, path, scope))


def read_heads(root: Path, scope: Scope, *, tell: Listener = log_left_out) -> Iterator[DocumentHead]:
    """Read the beginnings of what ``read_documents`` reads, one by one."""
    return _read_each(root, tell, lambda folder, path: _read_head(folder, path, scope))


def _read_each(root: Path, tell: Listener, read: Callable[[int, str], _R]) -> Iterator[_R]:
    for folder, path in walk_documents(root, tell=tell):
        try:
            yield read(folder, path)
        except DocumentMissing:
            continue
        except TooLarge:
            tell(LeftOut("too_large", path))
        except (InputError, OSError) as error:
            tell(LeftOut("link" if isinstance(error, InputError) else "unreadable", path))


def read_document(folder: int, path: str, scope: Scope) -> ReadDocument:
    """Read one document file.

    Args:
        folder: descriptor of the folder that holds it.
        path: relative to the root of the scope.

    Raises:
        DocumentMissing, PathEscape, PathRefused: as for ``open_regular``.
        TooLarge: over 256 KiB.
        OSError: it can't be read.
    """
    with open_regular(folder, path.rpartition("/")[2]) as opened:
        mtime_ns = os.fstat(opened).st_mtime_ns
        content = b"".join(read_chunks(opened, max_bytes=MAX_FILE_BYTES + 1))
    if len(content) > MAX_FILE_BYTES:
        raise TooLarge(f"more than {MAX_FILE_BYTES} bytes")
    return ReadDocument(scope, path, content, mtime_ns)


def _read_head(folder: int, path: str, scope: Scope) -> DocumentHead:
    with open_regular(folder, path.rpartition("/")[2]) as opened:
        found = os.fstat(opened)
        if found.st_size > MAX_FILE_BYTES:
            raise TooLarge(f"more than {MAX_FILE_BYTES} bytes")
        beginning = b"".join(read_chunks(opened, max_bytes=HEAD_BYTES))
    return DocumentHead(scope, path, beginning, found.st_size, found.st_mtime_ns)


def walk_documents(root: Path, *, tell: Listener = log_left_out) -> Iterator[tuple[int, str]]:
    """Find every document file below ``root``, memory or not, links left out.

    At most 10,000 documents, 16 folders deep; a missing root has none.

    Args:
        tell: called with everything that is left out.

    Yields:
        Descriptor of the open folder that holds the document, and its path relative to the root.
    """
    count = 0
    for folder, path, entry in walk_entries(root, tell=tell):
        if (
            is_document(entry.name)
            and not is_temporary(entry.name)
            and not entry.is_dir(follow_symlinks=False)
        ):
            count += 1
            if count > MAX_DOCUMENTS:
                tell(LeftOut("too_many_documents", path))
                return
            yield folder, path


def walk_entries(root: Path, *, tell: Listener = log_left_out) -> Iterator[tuple[int, str, os.DirEntry[str]]]:
    """Find every plain file and folder below ``root``, a folder before what is in it.

    Folders lie at most 16 deep, of each at most 20,000 names are looked at; a missing root has none.

    Args:
        tell: called with everything that is left out.

    Yields:
        Descriptor of the open folder that holds it, its path relative to the root, and its entry there.
    """
    try:
        with open_folder(root) as top:
            yield from _Walk(tell).below(top, "", MAX_DEPTH)
    except DocumentMissing:
        return


class _Walk:
    def __init__(self, tell: Listener) -> None:
        self._tell = tell

    def below(self, folder: int, prefix: str, depth: int) -> Iterator[tuple[int, str, os.DirEntry[str]]]:
        names, is_all = _list_all(folder)
        if not is_all:
            self._tell(LeftOut("too_many_names", prefix.rstrip("/")))
        for entry in names:
            path = prefix + entry.name
            if entry.is_symlink():
                self._tell(LeftOut("link", path))
            elif entry.is_file(follow_symlinks=False):
                yield folder, path, entry
            elif entry.is_dir(follow_symlinks=False):
                yield folder, path, entry
                if not is_temporary(entry.name):
                    yield from self._inside(folder, path, depth)

    def _inside(self, folder: int, path: str, depth: int) -> Iterator[tuple[int, str, os.DirEntry[str]]]:
        if not depth:
            self._tell(LeftOut("too_deep", path))
            return
        below = self._open(folder, path)
        if below is not None:
            try:
                yield from self.below(below, path + "/", depth - 1)
            finally:
                os.close(below)

    def _open(self, folder: int, path: str) -> int | None:
        try:
            return open_subfolder(folder, path.rpartition("/")[2])
        except FileNotFoundError:
            return None
        except OSError:  # not readable, or swapped for a link since it was listed
            self._tell(LeftOut("unreadable", path))
            return None
