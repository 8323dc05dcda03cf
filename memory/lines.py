"""Lines of an index, kept in the process for as long as their documents stay as they are.

To parse a header takes milliseconds, to look whether a file is still the same takes microseconds: only
because of that can an index of thousands of documents be made under the store's lock.
"""

import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from core import clock
from memory.beneath import open_regular, stat_of
from memory.document import Document, parse_document
from memory.errors import DocumentMissing, PathEscape, PathRefused
from memory.frontmatter import MAX_HEADER_BYTES
from memory.scan import walk_documents
from memory.standing import is_under_review

MAX_ROOTS = 8
SETTLED_MS = 2_000  # no file system has coarser times
_HEAD_BYTES = MAX_HEADER_BYTES + 64  # fences and byte order mark
_UNREADABLE = (DocumentMissing, PathEscape, PathRefused, PermissionError)

_Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IndexLine:
    """Line of one document.

    Attributes:
        path: relative to the root, ``/`` between names.
        mtime_ns: modification time of the document, nanoseconds since the epoch.
    """

    path: str
    mtime_ns: int
    text: str


@dataclass(frozen=True, slots=True)
class _Head:
    content: bytes
    mtime_ns: int
    version: _Version | None  # None while another change could hide behind the same times


@dataclass(frozen=True, slots=True)
class _Known:
    version: _Version | None
    digest: bytes
    mtime_ns: int
    text: str | None  # None for a file that is no memory, or waits for a review


class LineCache:
    """Index lines of the roots that this process used last; safe to use from several threads."""

    def __init__(self, render: Callable[[str, Document], str], *, settled_ms: int = SETTLED_MS) -> None:
        """Know nothing yet.

        Args:
            render: makes the line of a document from its path and what its first 8 KiB say.
            settled_ms: a file that was changed less than this ago is read again, though not parsed
                again, because a second change might have left it with the same times.
        """
        self._render = render
        self._settled_ms = settled_ms
        self._roots: dict[Path, dict[str, _Known]] = {}
        self._guard = threading.Lock()

    def lines(self, root: Path, *, max_parsed: int | None = None) -> list[IndexLine] | None:
        """Lines of the memories that are on disk below a root, in no order; a missing root has none.

        What is no memory, or a link, is left out; ``scan.walk_documents`` sets the limits.

        Args:
            max_parsed: how many headers may be parsed because this process does not know them.

        Returns:
            None when there are more of them; the parsed ones are known from now on.
        """
        before, now = self._roots.get(root, {}), dict[str, _Known]()
        parsed = 0
        for folder, path in walk_documents(root):
            known = before.get(path)
            if known is None or known.version is None or known.version != _version_at(folder, path):
                head = self._read_head(folder, path)
                if head is None:
                    continue
                parsed += known is None or known.digest != _digest(head)
                if max_parsed is not None and parsed > max_parsed:
                    self._keep(root, before | now)
                    return None
                known = self._learn(path, head, known)
            now[path] = known
        self._keep(root, now)
        return [
            IndexLine(path, known.mtime_ns, known.text)
            for path, known in now.items()
            if known.text is not None
        ]

    def _learn(self, path: str, head: _Head, known: _Known | None) -> _Known:
        digest = _digest(head)
        if known is not None and known.digest == digest:
            text = known.text
        else:
            document = parse_document(head.content)
            is_shown = document is not None and not is_under_review(document)
            text = self._render(path, document) if document is not None and is_shown else None
        return _Known(head.version, digest, head.mtime_ns, text)

    def _read_head(self, folder: int, path: str) -> _Head | None:
        try:
            with open_regular(folder, path.rpartition("/")[2]) as opened:
                before = os.fstat(opened)
                content = os.read(opened, _HEAD_BYTES)
                found = os.fstat(opened)
        except _UNREADABLE:
            return None
        age_ms = abs(clock.wall_ms() - found.st_ctime_ns // 1_000_000)
        is_settled = age_ms >= self._settled_ms and _version(before) == _version(found)
        return _Head(content, found.st_mtime_ns, _version(found) if is_settled else None)

    def _keep(self, root: Path, known: dict[str, _Known]) -> None:
        with self._guard:
            self._roots.pop(root, None)
            self._roots[root] = known
            if len(self._roots) > MAX_ROOTS:
                del self._roots[next(iter(self._roots))]


def _version_at(folder: int, path: str) -> _Version | None:
    try:
        found = stat_of(folder, path.rpartition("/")[2])
    except _UNREADABLE:
        return None
    return _version(found) if found is not None else None


def _version(found: os.stat_result) -> _Version:
    times = found.st_mtime_ns, found.st_ctime_ns
    return found.st_dev, found.st_ino, found.st_nlink, found.st_size, *times


def _digest(head: _Head) -> bytes:
    return hashlib.sha256(head.content).digest()
