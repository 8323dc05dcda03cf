"""What the memory roots held when a task began whose agent writes there by itself.

``snapshots/<task>.json`` stays until the task has ended.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from core import clock
from core.acp import Scope
from core.errors import InputError
from core.ids import TaskId
from memory.beneath import disk_errors, open_folder
from memory.content import read_regular
from memory.errors import DocumentMissing, StoreUnusable, TooLarge
from memory.files import MAX_RECORD_BYTES, StoreFiles, file_name
from memory.journal import DocumentName, FencedTask
from memory.paths import SCOPES, Roots
from memory.records import Content, Record
from memory.scan import LeftOut, Listener, ReadDocument, read_documents
from memory.validation import MAX_FILE_BYTES

MAX_KEEP_MS = 30 * 24 * 3_600_000  # of a task whose end nobody ever asks for
_FOLDER = "snapshots"

DocumentKey = tuple[Scope, str]
"""Scope of a document, and its path relative to the root."""


@dataclass(frozen=True, slots=True)
class Sight:
    """What the documents of both roots are.

    Attributes:
        hidden: files and folders that were not looked at; an empty path is a root of which parts were not.
    """

    contents: dict[DocumentKey, bytes]
    hidden: frozenset[DocumentKey]


def look(roots: Roots) -> Sight:
    """Read every document of both roots; needs no lock.

    Raises:
        StoreUnusable: a root can't be read.
    """
    contents: dict[DocumentKey, bytes] = {}
    hidden: set[DocumentKey] = set()
    for scope in SCOPES:
        left_out: list[LeftOut] = []
        contents |= {
            (scope, one.path): one.content
            for one in _read(roots.of(scope), scope, tell=left_out.append)
            if _is_text(one.path)
        }
        hidden |= {(scope, _hidden_path(one)) for one in left_out if _is_text(one.path)}
    return Sight(contents, frozenset(hidden))


def _read(root: Path, scope: Scope, *, tell: Listener) -> Iterator[ReadDocument]:
    what = f"the {scope} memory"
    try:
        with disk_errors(what):
            yield from read_documents(root, scope, tell=tell)
    except InputError as error:  # a link or a file has the root's place
        raise StoreUnusable(f"{what}: {error}") from error


def _hidden_path(left_out: LeftOut) -> str:
    return "" if left_out.cause == "too_many_documents" else left_out.path


def read_now(root: Path, path: str) -> bytes | None:
    """Bytes of a document, None when there is no file.

    Raises:
        InputError: what stands there is no document: a link, a folder, far larger than one may be.
        OSError: it can't be read.
    """
    *folders, name = path.split("/")
    try:
        with open_folder(root, folders) as folder:
            return read_regular(folder, name, max_bytes=MAX_FILE_BYTES)
    except DocumentMissing:
        return None


class SnapshotDocument(Record):
    """A document as it was; the path is relative to the root of its scope."""

    scope: Scope
    path: str
    content: Content


class Snapshot(Record):
    """What a task found.

    Attributes:
        client: who asked for the task.
        seq: number of the last intent before it; what later ones committed is not its work.
        roots: as ``root_names`` tells them.
        hidden: as for ``Sight``: nobody can tell whether a document there is new.
    """

    version: Literal[1] = 1
    task: str
    client: str | None
    seq: int
    roots: tuple[str, ...]
    documents: tuple[SnapshotDocument, ...]
    hidden: tuple[DocumentKey, ...]

    def contents(self) -> dict[DocumentKey, bytes]:
        """Bytes of its documents."""
        return {(one.scope, one.path): one.content for one in self.documents}

    def hides(self, scope: Scope, path: str) -> bool:
        """Tell whether a document without bytes here may have been there unseen."""
        return any(
            scope == hidden_scope and (not hidden or path == hidden or path.startswith(f"{hidden}/"))
            for hidden_scope, hidden in self.hidden
        )

    def without(self, names: Collection[DocumentName]) -> "Snapshot":
        """The same without the bytes of some documents, of which nothing can be told then."""
        root_of = dict(zip(SCOPES, self.roots, strict=True))
        gone = {key for key in self.contents() if (root_of[key[0]], key[1]) in names}
        if not gone:
            return self
        kept = tuple(one for one in self.documents if (one.scope, one.path) not in gone)
        return self.model_copy(update={"documents": kept, "hidden": (*self.hidden, *sorted(gone))})


def snapshot_of(task: FencedTask, sight: Sight, *, seq: int, roots: tuple[str, ...]) -> Snapshot:
    """What a task finds that begins after the intent of this number; roots as ``root_names`` tells them."""
    return Snapshot(
        task=task.id,
        client=task.client,
        seq=seq,
        roots=roots,
        documents=tuple(_documents(sight.contents.items())),
        hidden=tuple(sorted(sight.hidden)),
    )


class Snapshots:
    """Reads and writes snapshots. All that write need the store's lock."""

    def __init__(self, files: StoreFiles) -> None:
        self._files = files

    def keep(self, snapshot: Snapshot) -> None:
        """Keep a snapshot durably; those that nobody asked for in 30 days go.

        Raises:
            TooLarge: nobody could read it again; nothing was written.
        """
        content = snapshot.to_json()
        if len(content) > MAX_RECORD_BYTES:
            raise TooLarge(f"a snapshot can't hold more than {MAX_RECORD_BYTES} bytes")
        self._files.remove_older(_FOLDER, before_ms=clock.wall_ms() - MAX_KEEP_MS)
        self._files.replace(_FOLDER, file_name(snapshot.task), content)

    def find(self, task: TaskId) -> Snapshot | None:
        """The snapshot of a task.

        Raises:
            StoreUnusable: it is damaged.
        """
        return self._read(file_name(task))

    def remove(self, task: TaskId) -> None:
        """Forget a task's snapshot; fine when there is none."""
        self._files.remove(_FOLDER, file_name(task))

    def forget(self, names: Collection[DocumentName]) -> None:
        """Take the bytes of some documents from all snapshots."""
        for name in self._files.names(_FOLDER):
            snapshot = self._read(name)
            kept = snapshot.without(names) if snapshot is not None else None
            if kept is not None and kept is not snapshot:
                self._files.replace(_FOLDER, name, kept.to_json())

    def _read(self, name: str) -> Snapshot | None:
        content = self._files.read(_FOLDER, name)
        if content is None:
            return None
        try:
            return Snapshot.model_validate_json(content)
        except ValidationError as error:
            raise StoreUnusable(f"{_FOLDER}/{name} is damaged") from error


def _documents(contents: Iterable[tuple[DocumentKey, bytes]]) -> Iterator[SnapshotDocument]:
    for (scope, path), content in contents:
        yield SnapshotDocument(scope=scope, path=path, content=content)


def _is_text(path: str) -> bool:
    """Whether a path can stand in a record; a name that is no UTF-8 can't, and is nobody's memory."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
