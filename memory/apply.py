"""Bring a committed intent into the roots, and keep their indexes true."""

import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import InputError, MemlaneError
from core.logs import get_logger
from memory.beneath import list_regular, open_folder, stat_of, unlink_if_there
from memory.content import read_regular, write_new
from memory.errors import StoreUnusable
from memory.external import ExternalRecords
from memory.files import StoreFiles
from memory.index import build_index, build_known_index
from memory.journal import Intent, OpenIntent, PlannedChange
from memory.lock import HeldLock
from memory.names import INDEX_NAME, TEMPORARY_PREFIX
from memory.placing import Placement, Placer, stem_of
from memory.renames import Renames

MAX_PARSED_UNDER_LOCK = 64  # more than one task changes; a parse takes up to 10 ms
# What may go wrong between the journal's fsync and a document's place; none of it undoes the commit.
FAILURES = (MemlaneError, OSError, LookupError, ValueError)
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

    def prepare(self, intent: Intent) -> None:
        """Do before the commit what may fail: make folders, write the new files beside their places.

        Raises:
            StoreUnusable: a link or folder stands in the way of a document.
            OSError: the disk is full or refuses. After either, ``discard`` tidies up; folders stay.
        """
        for change, stem in _with_stems(intent):
            with self._open_place(intent, change, stem) as placement:
                self._placer.prepare(placement)

    def discard(self, intent: Intent) -> None:
        """Remove what ``prepare`` made of an intent that did not commit, as far as that is possible."""
        for change, stem in _with_stems(intent):
            try:
                with self._open_place(intent, change, stem, create=False) as placement:
                    self._placer.discard(placement)
            except (StoreUnusable, OSError) as error:
                _log.debug("draft_left", root=change.root, reason=str(error))

    def apply(self, opened: OpenIntent) -> dict[str, Exception]:
        """Make the open roots what the intent says; doing it again changes nothing.

        Returns:
            The roots that could not be reached, each with the reason: a link or folder stands in the
            way, the disk refuses, others keep changing a file, or the lock was held too long. A later
            holder goes on there.
        """
        unreached: dict[str, Exception] = {}
        for root in opened.roots:
            try:
                self._place_all(opened.intent, root)
            except FAILURES as error:
                unreached[root] = error
            else:
                self.rebuild_index(self._files.base / root)
        return unreached

    def _place_all(self, intent: Intent, root: str) -> None:
        folders: set[tuple[str, ...]] = set()
        for change, stem in _with_stems(intent):
            if change.root == root:
                folders.add(tuple(change.path.split("/")[:-1]))
                with self._open_place(intent, change, stem) as placement:
                    self._placer.place(placement)
        # once for all of a folder's documents, also of those that a holder placed that died before this
        for names in sorted(folders):
            with _open_below_root(self._files.base, self._files.base / root, names) as folder:
                os.fsync(folder)
            self._files.checkpoint("folder durable")

    @contextmanager
    def _open_place(
        self, intent: Intent, change: PlannedChange, stem: str, *, create: bool = True
    ) -> Iterator[Placement]:
        root = self._files.base / change.root
        *folders, name = change.path.split("/")
        with _open_below_root(self._files.base, root, folders, create=create) as folder:
            yield Placement(
                folder=folder,
                name=name,
                label=str(root / change.path),
                seq=intent.seq,
                stem=stem,
                old=change.old,
                new=change.new,
                mtime_ns=intent.mtime_ns,
            )

    def rebuild_index(self, root: Path) -> None:
        """Write a root's index unless it is right already; what prevents that is logged.

        An index can be made again at any time, and the next task that uses the root does so: no
        commit waits for it.
        """
        try:
            self._rebuild_index(root)
        except FAILURES as error:
            _log.warning("index_left", root=str(root), reason=str(error))

    def _rebuild_index(self, root: Path) -> None:
        content = build_known_index(root, max_parsed=MAX_PARSED_UNDER_LOCK)
        if content is None:
            _log.info("index_left", root=str(root), reason="too many documents are new to this process")
            return
        with _open_below_root(self._files.base, root, ()) as folder:
            _drop_drafts(folder)
            if read_index(folder) == content.encode():
                return
            found = stat_of(folder, INDEX_NAME)
            if found is not None and stat.S_ISDIR(found.st_mode):
                _log.warning("index_blocked", root=str(root))
                return
            self._write_index(folder, content.encode())

    def _write_index(self, folder: int, content: bytes) -> None:
        draft = f"{TEMPORARY_PREFIX}{secrets.token_hex(16)}.index"
        write_new(folder, draft, content)
        self._files.checkpoint("index written")
        self.lock.check()
        os.rename(draft, INDEX_NAME, src_dir_fd=folder, dst_dir_fd=folder)  # a link is replaced, not followed
        self._files.checkpoint("index renamed")
        os.fsync(folder)


def _with_stems(intent: Intent) -> Iterator[tuple[PlannedChange, str]]:
    """What has to be placed of an intent, with the stems of its temporary files."""
    if intent.observed:
        return iter(())
    return ((change, stem_of(intent.token, number)) for number, change in enumerate(intent.changes))


def _drop_drafts(folder: int) -> None:
    for name in list_regular(folder):
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
    except (InputError, PermissionError):
        return None


@contextmanager
def _open_below_root(base: Path, root: Path, folders: Iterable[str], *, create: bool = True) -> Iterator[int]:
    """Open a folder of a root, made when missing; base or workspace themselves are never made."""
    anchor = base if root.is_relative_to(base) else Path(*root.parts[:-_LOCAL_DEPTH])
    try:
        with open_folder(anchor, (*root.relative_to(anchor).parts, *folders), create=create) as folder:
            yield folder
    except InputError as error:
        raise StoreUnusable(f"{root}: {error}") from error
