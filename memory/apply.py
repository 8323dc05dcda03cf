"""Bring a committed intent into the roots, and keep their indexes true."""

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import InputError
from core.logs import get_logger
from memory.beneath import open_folder, stat_of, unlink_if_there
from memory.content import read_regular, write_new
from memory.errors import StoreUnusable
from memory.external import ExternalRecords
from memory.files import StoreFiles
from memory.index import build_index
from memory.journal import Intent, PlannedChange
from memory.lock import HeldLock
from memory.names import INDEX_NAME, TEMPORARY_PREFIX
from memory.placing import Placement, Placer, stem_of
from memory.renames import Renames

_LOCAL_DEPTH = 2  # .qwen/memory below a workspace
_MAX_INDEX_BYTES = 1_000_000
_log = get_logger(__name__)


class Applier:
    """Applies intents under one held lock.

    Attributes:
        lock: the lock that everything here needs.
    """

    def __init__(self, files: StoreFiles, lock: HeldLock, *, renames: Renames) -> None:
        self._files = files
        self.lock = lock
        self._placer = Placer(
            lock, renames=renames, external=ExternalRecords(files), checkpoint=files.checkpoint
        )

    def apply(self, intent: Intent) -> None:
        """Make the roots what the intent says; doing it again changes nothing.

        Raises:
            StoreBusy: the lock was held too long; the next holder goes on.
            StoreUnusable: a link or folder stands in the way of a document.
        """
        for number, change in enumerate(intent.changes):
            self._place(intent, change, stem_of(intent.token, number))
        for root in dict.fromkeys(change.root for change in intent.changes):
            self.rebuild_index(self._files.base / root)

    def _place(self, intent: Intent, change: PlannedChange, stem: str) -> None:
        root = self._files.base / change.root
        *folders, name = change.path.split("/")
        with _open_below_root(self._files.base, root, folders) as folder:
            self._placer.place(
                Placement(
                    folder=folder,
                    name=name,
                    label=str(root / change.path),
                    stem=stem,
                    old=change.old,
                    new=change.new.encode() if change.new is not None else None,
                    mtime_ns=intent.mtime_ns,
                )
            )

    def rebuild_index(self, root: Path) -> None:
        """Write a root's index unless it is right already.

        A folder in its place is left alone: a task's commit must not wait for what can be made again.
        """
        content = build_index(root).encode()
        with _open_below_root(self._files.base, root, ()) as folder:
            self._drop_drafts(folder)
            if read_index(folder) == content:
                return
            found = stat_of(folder, INDEX_NAME)
            if found is not None and stat.S_ISDIR(found.st_mode):
                _log.warning("index_blocked", root=str(root))
                return
            self._write_index(folder, content)

    def _write_index(self, folder: int, content: bytes) -> None:
        draft = f"{TEMPORARY_PREFIX}{secrets.token_hex(16)}.index"
        write_new(folder, draft, content)
        self._files.checkpoint("index written")
        self.lock.check()
        os.rename(draft, INDEX_NAME, src_dir_fd=folder, dst_dir_fd=folder)  # a link is replaced, not followed
        self._files.checkpoint("index renamed")
        os.fsync(folder)

    @staticmethod
    def _drop_drafts(folder: int) -> None:
        for name in os.listdir(folder):
            if name.startswith(TEMPORARY_PREFIX) and name.endswith(".index"):
                unlink_if_there(folder, name)


def find_drift(roots: Iterable[Path]) -> list[Path]:
    """Roots whose index does not say what is on disk; needs no lock, so look again under it."""
    return [root for root in roots if not _is_indexed(root)]


def _is_indexed(root: Path) -> bool:
    try:
        with open_folder(root) as folder:
            return read_index(folder) == build_index(root).encode()
    except InputError:  # the root is gone: the rebuild makes it again
        return False


def read_index(folder: int) -> bytes | None:
    """Bytes of the index in an open root; none count as empty, None when it can't be trusted or read."""
    try:
        if stat_of(folder, INDEX_NAME) is None:
            return b""
        return read_regular(folder, INDEX_NAME, max_bytes=_MAX_INDEX_BYTES)
    except InputError:
        return None


def root_name(base: Path, root: Path) -> str:
    """How the journal writes a root: relative to the base where it lies below it, so that a base can move."""
    return str(root.relative_to(base)) if root.is_relative_to(base) else str(root)


@contextmanager
def _open_below_root(base: Path, root: Path, folders: Iterable[str]) -> Iterator[int]:
    """Open a folder of a root, made when missing; base or workspace themselves are never made."""
    anchor = base if root.is_relative_to(base) else Path(*root.parts[:-_LOCAL_DEPTH])
    try:
        with open_folder(anchor, (*root.relative_to(anchor).parts, *folders), create=True) as folder:
            yield folder
    except InputError as error:
        raise StoreUnusable(f"{root}: {error}") from error
