"""Foreign bytes that a commit displaced: kept in the store, never lost."""

import errno
import json
import os
import secrets
import stat
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from core import clock
from memory.beneath import create_file, open_file, stat_of, unlink_if_there
from memory.descriptors import read_chunks, write_all
from memory.errors import StoreUnusable
from memory.files import StoreFiles
from memory.names import is_temporary

_FOLDER = "external"
_FACTS = ".json"
_COPY = ".bytes"
MAX_SHOWN_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Displaced:
    """A file of somebody else in whose place a commit put a document.

    Attributes:
        path: absolute path of the document.
        content: its bytes; None for what is no plain file, or over 16 MiB.
    """

    path: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is written down of a displaced file; ``is_shown`` if the history can show its bytes."""

    path: str
    is_shown: bool


class ExternalRecords:
    """Foreign files by the intent that displaced them.

    ``external/<seq>-<time>-<random>.bytes`` is the file or a copy, the ``.json`` that follows it says what
    it is.
    """

    def __init__(self, files: StoreFiles) -> None:
        self._files = files

    def keep(self, folder: int, name: str, *, label: str, seq: int) -> None:
        """Copy what stands at a name durably; a link or special file is described instead.

        Args:
            folder: descriptor of the folder that holds it.
            label: path of the document whose place it had.
            seq: of the intent that displaced it.
        """
        record_id, facts, found = self._begin(folder, name, label=label, seq=seq)
        if found is not None and stat.S_ISREG(found.st_mode):
            facts["size_bytes"] = self._copy(folder, name, record_id + _COPY)
        elif found is not None and stat.S_ISLNK(found.st_mode):
            facts["link_to"] = os.readlink(name, dir_fd=folder)
        self._files.create(_FOLDER, record_id + _FACTS, json.dumps(facts).encode())

    def take(self, folder: int, name: str, *, label: str, seq: int) -> None:
        """Move a plain file in here that somebody has open, so that what is still written to it is kept.

        On another file system than the store's it can only be copied as it is now. Arguments as for ``keep``.
        """
        record_id, facts, found = self._begin(folder, name, label=label, seq=seq)
        facts["size_bytes"] = found.st_size if found is not None else 0
        try:
            with self._files.open(_FOLDER) as target_folder:
                os.rename(name, record_id + _COPY, src_dir_fd=folder, dst_dir_fd=target_folder)
                os.fsync(target_folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self.keep(folder, name, label=label, seq=seq)
        else:
            self._files.create(_FOLDER, record_id + _FACTS, json.dumps(facts).encode())

    @staticmethod
    def _begin(
        folder: int, name: str, *, label: str, seq: int
    ) -> tuple[str, dict[str, Any], os.stat_result | None]:
        now_ms = clock.wall_ms()
        facts = {"path": label, "at": clock.rfc3339(now_ms)}
        return f"{seq}-{now_ms}-{secrets.token_hex(8)}", facts, stat_of(folder, name)

    def displaced_by(self, seq: int) -> tuple[Displaced, ...]:
        """What an intent displaced, oldest first; needs no lock once the intent is in its place.

        Raises:
            StoreUnusable: a record is damaged.
        """
        names = (name for name in self._files.names(_FOLDER) if name.startswith(f"{seq}-"))
        return tuple(self._displaced(name) for name in sorted(names) if name.endswith(_FACTS))

    def forget(self, labels: Collection[str], *, seqs: Collection[int]) -> None:
        """Remove everything that stood in the place of these documents, or may have.

        Args:
            labels: paths of the documents.
            seqs: of the intents that changed them. What one of those displaced has no facts when its holder
                was killed in between.
        """
        names = self._files.names(_FOLDER)
        folders = {label.rpartition("/")[0] for label in labels}
        for name in names:
            if name.endswith(_FACTS) and _may_have_stood(self._facts(name).path, labels, folders):
                self._remove(name)
        known = {name.removesuffix(_FACTS) for name in names if name.endswith(_FACTS)}
        for name in names:
            if name.removesuffix(_COPY) not in known and name.partition("-")[0] in map(str, seqs):
                self._files.remove(_FOLDER, name)

    def prune(self, seq: int) -> None:
        """Remove what an intent displaced and the history shows; what it can't show stays."""
        for name in self._files.names(_FOLDER):
            # by its facts: the copy of one is gone already whose removal was cut short
            if name.startswith(f"{seq}-") and name.endswith(_FACTS) and self._facts(name).is_shown:
                self._remove(name)

    def _remove(self, name: str) -> None:
        self._files.remove(_FOLDER, name.removesuffix(_FACTS) + _COPY)  # first: the facts tell where it is
        self._files.remove(_FOLDER, name)

    def _displaced(self, name: str) -> Displaced:
        facts = self._facts(name)
        copy = self._files.read(_FOLDER, name.removesuffix(_FACTS) + _COPY) if facts.is_shown else None
        return Displaced(facts.path, copy)

    def _facts(self, name: str) -> _Facts:
        content = self._files.read(_FOLDER, name)
        try:
            found = json.loads(content or b"")
            path, size_bytes = str(found["path"]), int(found.get("size_bytes", MAX_SHOWN_BYTES + 1))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StoreUnusable(f"{_FOLDER}/{name} is damaged") from error
        return _Facts(path, is_shown=size_bytes <= MAX_SHOWN_BYTES)

    def _copy(self, folder: int, name: str, copy_name: str) -> int:
        with open_file(folder, name) as source, self._files.open(_FOLDER) as target_folder:
            return _copy_to(source, target_folder, copy_name)


def _may_have_stood(path: str, labels: Collection[str], folders: Collection[str]) -> bool:
    """Whether this is one of the documents, or a temporary file beside one: which it was for is not known."""
    folder, _, name = path.rpartition("/")
    return path in labels or (folder in folders and is_temporary(name))


def _copy_to(source: int, folder: int, name: str) -> int:
    size_bytes = 0
    with create_file(folder, name) as target:
        try:
            for chunk in read_chunks(source):
                write_all(target, chunk)
                size_bytes += len(chunk)
            os.fsync(target)
        except OSError:
            unlink_if_there(folder, name)
            raise
    return size_bytes
