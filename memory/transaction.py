"""A task's staged edits: reads see them, the roots don't until the store commits."""

import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from core.acp import Scope
from memory.beneath import disk_errors, open_folder, open_regular, stat_of
from memory.content import read_regular
from memory.errors import DocumentInvalid, DocumentMissing, PathEscape, PathRefused, TooLarge
from memory.folded_names import FoldedNames
from memory.journal import FencedTask
from memory.name_tree import NameTree
from memory.names import is_document, require_writable, split_absolute
from memory.paths import SCOPES, Roots
from memory.scan import list_documents, list_names
from memory.validation import MAX_FILE_BYTES, find_problems

MAX_FILES = 50  # that a task may change, unless it is made for more
MAX_READ_BYTES = 1_000_000

_Parts = tuple[str, ...]
_Key = tuple[Scope, _Parts]


@dataclass(frozen=True, slots=True)
class ListedName:
    """A name in a folder."""

    name: str
    is_directory: bool


@dataclass(frozen=True, slots=True)
class Change:
    """One document before and after the task; None means absent.

    Attributes:
        path: absolute.
    """

    path: str
    scope: Scope
    before: bytes | None
    after: bytes | None


class Transaction:
    """Overlay over the roots of one workspace; made by ``Store.begin``, used by one thread.

    Every path is an absolute path as text. Nothing touches a root.

    Attributes:
        task: the task that the edits belong to.
        writable: scopes whose documents may be changed.
    """

    def __init__(
        self, task: FencedTask, roots: Roots, *, writable: frozenset[Scope], max_files: int = MAX_FILES
    ) -> None:
        self.task = task
        self.roots = roots
        self.writable = writable
        self._max_files = max_files
        self._staged: dict[_Key, bytes | None] = {}
        self._names = {scope: NameTree() for scope in SCOPES}  # of the staged documents
        self._names_on_disk = FoldedNames()
        self._seen: dict[_Key, bytes | None] = {}  # what the disk held when the task looked
        self._read: set[_Key] = set()
        self._held: set[_Key] = set()

    def scope_of(self, path: str) -> Scope:
        """Tell which root the path lies in; the root itself counts, the file need not exist.

        Raises:
            PathEscape: in none.
        """
        return self._key(path)[0]

    def read(self, path: str, *, max_bytes: int = MAX_READ_BYTES) -> bytes:
        """Read a file as the task would leave it, and remember which bytes were seen.

        Any regular file inside a root may be read, ``MEMORY.md`` included.

        Raises:
            DocumentMissing: no such file.
            PathEscape: outside the roots, through a link, or a file with a second hard link.
            PathRefused: not a regular file.
            TooLarge: more than ``max_bytes``.
        """
        key = self._key(path)
        content = self._staged[key] if key in self._staged else self._on_disk(key, max_bytes)
        if content is None:
            raise DocumentMissing("no such file")
        if len(content) > max_bytes:
            raise TooLarge(f"{path} is larger than {max_bytes} bytes")
        if key not in self._staged:
            self._seen[key] = content
        self._read.add(key)
        return content

    def exists(self, path: str) -> bool:
        """Tell whether a file or folder is there as the task would leave it; refuses as ``read`` does."""
        key = self._key(path)
        if key in self._staged:
            return self._staged[key] is not None
        if any(self._is_below(key, staged) for staged in self._staged_documents()):
            return True
        scope, parts = key
        try:
            with self._folder(scope, parts[:-1]) as folder:
                return not parts or self._stands(folder, parts[-1])
        except DocumentMissing:
            return False

    def has_read(self, path: str) -> bool:
        """Tell whether this transaction has read or written the file."""
        return self._key(path) in self._read

    def write(self, path: str, content: bytes) -> None:
        """Stage the whole content of a document; missing folders are made at commit.

        Raises:
            PathEscape: outside the roots or through a link.
            PathRefused: not a document that may be written (see the error), or a root not writable here.
            TooLarge: over 256 KiB, or more changed files than the task may have.
        """
        if len(content) > MAX_FILE_BYTES:
            raise TooLarge(f"a document may have {MAX_FILE_BYTES} bytes at most")
        self._stage(self._writable_key(path), content)

    def remove(self, path: str) -> None:
        """Stage the removal of a document.

        Raises:
            DocumentMissing: no such file.
            PathEscape, PathRefused, TooLarge: as for ``write``.
        """
        key = self._writable_key(path)
        there = self._staged[key] if key in self._staged else self._on_disk(key, MAX_READ_BYTES)
        if there is None:
            raise DocumentMissing("no such file")
        self._stage(key, None)

    def list_directory(self, path: str) -> tuple[ListedName, ...]:
        """Names in a folder, staged ones included; directories first, then by name. Links are left out.

        Raises:
            DocumentMissing: no such folder.
            PathEscape, PathRefused: as for ``read``.
        """
        key = self._key(path)
        staged = [below for below in self._staged_documents() if self._is_below(key, below)]
        found = self._disk_names(key, required=not staged and bool(key[1]))
        for _, parts in staged:
            name = parts[len(key[1])]
            found[name] = len(parts) > len(key[1]) + 1
        names = sorted(found, key=lambda name: (not found[name], name))
        return tuple(ListedName(name, found[name]) for name in names)

    def documents(self, scope: Scope) -> Iterator[str]:
        """Absolute paths of every ``.md`` except ``MEMORY.md``, staged ones included, sorted."""
        with disk_errors(f"the {scope} memory"):
            found = {tuple(path.split("/")) for path in list_documents(self.roots.of(scope))}
        for (staged_scope, parts), content in self._staged.items():
            if staged_scope == scope:
                (found.discard if content is None else found.add)(parts)
        yield from sorted(self._absolute((scope, parts)) for parts in found)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What a commit would change, sorted by path; staged bytes equal to the old ones are dropped."""
        changed = [
            Change(self._absolute(key), key[0], self._seen[key], after)
            for key, after in self._staged.items()
            if self._seen[key] != after
        ]
        return tuple(sorted(changed, key=lambda change: change.path))

    def validate(self) -> tuple[DocumentInvalid, ...]:
        """Check every staged document; empty when a commit may go on."""
        return tuple(
            DocumentInvalid(change.path, reason)
            for change in self.changes
            if change.after is not None
            for reason in find_problems(change.after, before=change.before)
        )

    def adopt(self, change: Change) -> None:
        """Stage a change that was decided before, and take its ``before`` for what the task saw.

        Raises:
            PathEscape: outside the roots.
        """
        key = self._key(change.path)
        self._seen[key] = change.before
        self._put(key, change.after)

    def hold(self, path: str) -> None:
        """Let the commit go on only while a document is as the task saw it: what others write is not merged.

        Raises:
            PathEscape, PathRefused, TooLarge: as for ``read``.
        """
        key = self._key(path)
        if key not in self._seen:
            self._seen[key] = self._on_disk(key, MAX_READ_BYTES)
        self._held.add(key)

    @property
    def held(self) -> Iterator[tuple[str, bytes | None]]:
        """Documents that were held: absolute path, and the bytes that the task saw."""
        return ((self._absolute(key), self._seen[key]) for key in sorted(self._held))

    def seen_documents(self) -> Iterator[tuple[Scope, str, bytes | None]]:
        """Documents that the task looked at: scope, path relative to its root, and the bytes it saw."""
        for (scope, parts), content in self._seen.items():
            if is_document(parts[-1]):
                yield scope, "/".join(parts), content

    def look_again(self, path: str) -> bytes | None:
        """Bytes of a document on disk now, None when there is no file; what the task saw stays as it was.

        Only the store calls this, under its lock.

        Raises:
            InputError: no document can stand there: a link, a folder, far larger than one may be, or beside a
                twin that came up since the task saw that nothing was there.
        """
        key = self._key(path)
        if self._seen.get(key) is None:
            with suppress(DocumentMissing):
                self._refuse_disk_twin(*key)
        return self._on_disk(key, MAX_READ_BYTES)

    def _key(self, path: str) -> _Key:
        parts = split_absolute(path)
        for scope in sorted(SCOPES, key=lambda scope: -len(self.roots.of(scope).parts)):
            root = self.roots.of(scope).parts[1:]
            if parts[: len(root)] == root:
                return scope, parts[len(root) :]
        raise PathEscape("the path is outside the memory folders")

    def _writable_key(self, path: str) -> _Key:
        scope, parts = self._key(path)
        if scope not in self.writable:
            raise PathRefused(f"{scope} memory may not be changed here")
        require_writable(parts)
        self._names[scope].check(parts)
        with suppress(DocumentMissing):
            self._refuse_disk_twin(scope, parts)
        return scope, parts

    def _stage(self, key: _Key, content: bytes | None) -> None:
        if key not in self._seen:
            self._seen[key] = self._on_disk(key, MAX_READ_BYTES)
        if key not in self._staged and len(self._staged) >= self._max_files:
            raise TooLarge(f"a task may change {self._max_files} files at most")
        self._put(key, content)

    def _put(self, key: _Key, content: bytes | None) -> None:
        scope, parts = key
        self._staged[key] = content
        self._read.add(key)
        if content is None:
            self._names[scope].discard(parts)
        else:
            self._names[scope].add(parts)

    def _refuse_disk_twin(self, scope: Scope, parts: _Parts) -> None:
        for depth, name in enumerate(parts):
            with self._folder(scope, parts[:depth]) as folder:
                if stat_of(folder, name) is None:
                    self._names_on_disk.refuse_twin(folder, name)
                    return

    def _on_disk(self, key: _Key, max_bytes: int) -> bytes | None:
        scope, parts = key
        if not parts:
            raise PathRefused("a folder is no file")
        try:
            with self._folder(scope, parts[:-1]) as folder:
                return read_regular(folder, parts[-1], max_bytes=max_bytes)
        except DocumentMissing:
            return None

    def _disk_names(self, key: _Key, *, required: bool) -> dict[str, bool]:
        try:
            with self._folder(*key) as folder:
                return {
                    entry.name: entry.is_dir(follow_symlinks=False)
                    for entry in list_names(folder)
                    if not entry.is_symlink() and not self._is_removed(key, entry.name)
                }
        except DocumentMissing:
            if required:
                raise
            return {}

    def _is_removed(self, folder: _Key, name: str) -> bool:
        key = (folder[0], (*folder[1], name))
        return key in self._staged and self._staged[key] is None

    def _staged_documents(self) -> Iterator[_Key]:
        return (key for key, content in self._staged.items() if content is not None)

    @staticmethod
    def _stands(folder: int, name: str) -> bool:
        found = stat_of(folder, name)
        if found is None:
            return False
        if stat.S_ISDIR(found.st_mode):
            return True
        with open_regular(folder, name):
            return True

    @staticmethod
    def _is_below(folder: _Key, key: _Key) -> bool:
        depth = len(folder[1])
        return folder[0] == key[0] and len(key[1]) > depth and key[1][:depth] == folder[1]

    @contextmanager
    def _folder(self, scope: Scope, parts: Sequence[str]) -> Iterator[int]:
        with disk_errors(f"the {scope} memory"), open_folder(self.roots.of(scope), parts) as folder:
            yield folder

    def _absolute(self, key: _Key) -> str:
        return "/".join([str(self.roots.of(key[0])), *key[1]])
