"""The store's own small files: written whole, durably, by the holder of its lock."""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from core.errors import InputError
from memory.beneath import disk_errors, list_regular, open_folder, stat_of, unlink_if_there
from memory.content import read_regular, write_new
from memory.errors import DocumentMissing, StoreUnusable

STORE_NAME = "memlane"
TEMPORARY = "tmp"
# a journal entry holds up to 50 documents of 256 KiB as JSON, and up to 1 MB for each that they replace
MAX_RECORD_BYTES = 160 * 1024 * 1024

Checkpoint = Callable[[str], None]


def do_nothing(_step: str) -> None:
    """Checkpoint that does nothing."""


def file_name(identity: str) -> str:
    """Name of the record of a task or lane."""
    return quote(identity, safe="") + ".json"


class StoreFiles:
    """Files below ``<base>/memlane``. All that write need the store's lock, save ``require_writable``.

    Attributes:
        base: canonical path of the memory base.
        checkpoint: called with the name of each step reached.
    """

    def __init__(self, base: Path, *, checkpoint: Checkpoint = do_nothing) -> None:
        self.base = base
        self.checkpoint = checkpoint

    def make_store(self) -> None:
        """Make the store's own folder when it is missing; nothing else here does.

        Raises:
            StoreUnusable: the base is gone, or a link or no folder stands there.
        """
        with self._opened(self.base, (STORE_NAME,)):
            pass

    @contextmanager
    def open(self, *names: str) -> Iterator[int]:
        """Open a folder of the store; one below the store's own is made when it is missing.

        Raises:
            StoreUnusable: base or store is gone, or a step is a link or no folder.
        """
        with self._opened(self.base / STORE_NAME, names) as folder:
            yield folder

    @contextmanager
    def _opened(self, anchor: Path, names: Sequence[str]) -> Iterator[int]:
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(open_folder(anchor, names, create=True))
            except InputError as error:
                raise StoreUnusable(f"the memory store below {self.base}: {error}") from error
            yield folder

    def read(self, folder_name: str, name: str) -> bytes | None:
        """Content of a file, None when there is none; makes nothing.

        Raises:
            StoreUnusable: a link or no plain file stands there.
        """
        try:
            with open_folder(self.base / STORE_NAME, (folder_name,)) as folder:
                return read_regular(folder, name, max_bytes=MAX_RECORD_BYTES)
        except DocumentMissing:
            return None
        except InputError as error:
            raise StoreUnusable(f"{folder_name}/{name}: {error}") from error

    def names(self, folder_name: str) -> list[str]:
        """Names of the plain files in a folder, none when there is none; makes nothing.

        Raises:
            StoreUnusable: the folder is a link or no folder.
        """
        try:
            with open_folder(self.base / STORE_NAME, (folder_name,)) as folder:
                return list_regular(folder)
        except DocumentMissing:
            return []
        except InputError as error:
            raise StoreUnusable(f"{folder_name}: {error}") from error

    def replace(self, folder_name: str, name: str, content: bytes) -> None:
        """Write a file durably, over the one that is there."""
        with self.open(folder_name) as folder, self._drafted(content, folder_name) as (temporary, draft):
            os.replace(draft, name, src_dir_fd=temporary, dst_dir_fd=folder)
            self.checkpoint(f"{folder_name} renamed")
            os.fsync(folder)
        self.checkpoint(f"{folder_name} durable")

    def create(self, folder_name: str, name: str, content: bytes) -> None:
        """Write a new file durably.

        Raises:
            StoreUnusable: the name is taken, so somebody else writes in spite of the lock.
        """
        with self._drafted(content, folder_name) as (_, draft):
            self.publish(draft, folder_name, name)

    @contextmanager
    def _drafted(self, content: bytes, what: str) -> Iterator[tuple[int, str]]:
        draft = secrets.token_hex(16)
        with self.open(TEMPORARY) as temporary:
            try:
                self.write_draft(draft, content, what=what)
                yield temporary, draft
            finally:
                unlink_if_there(temporary, draft)

    def write_draft(self, draft: str, content: bytes, *, what: str) -> None:
        """Write a draft, whole and durable, that the next ``sweep`` removes unless it is published first.

        Args:
            draft: its name, which nobody else uses.
            what: names the step for the checkpoint.

        Raises:
            OSError: the disk failed; a part of the draft may stay.
        """
        with self.open(TEMPORARY) as temporary:
            write_new(temporary, draft, content)
        self.checkpoint(f"{what} written")

    def publish(self, draft: str, folder_name: str, name: str) -> None:
        """Give a draft its name durably; the draft is gone afterwards.

        Raises:
            StoreUnusable: the name is taken, so somebody else writes in spite of the lock.
        """
        with self.open(TEMPORARY) as temporary, self.open(folder_name) as folder:
            try:
                os.link(draft, name, src_dir_fd=temporary, dst_dir_fd=folder, follow_symlinks=False)
            except FileExistsError:
                raise StoreUnusable(f"{folder_name}/{name} exists; is the lock honoured here?") from None
            self.checkpoint(f"{folder_name} linked")
            os.fsync(folder)  # before the draft goes: one of the two must outlive the machine
            with suppress(OSError):
                os.unlink(draft, dir_fd=temporary)
        self.checkpoint(f"{folder_name} durable")

    def drop_draft(self, draft: str) -> None:
        """Remove a draft; fine when it is gone already."""
        with self.open(TEMPORARY) as temporary:
            unlink_if_there(temporary, draft)

    def drafts(self) -> list[str]:
        """Names of the drafts that crashed holders left."""
        with self.open(TEMPORARY) as temporary:
            return list_regular(temporary)

    def sweep(self) -> None:
        """Remove drafts that crashed holders left; what is no plain file is none of ours and stays."""
        with self.open(TEMPORARY) as temporary:
            for name in list_regular(temporary):
                with suppress(OSError):  # one that can't be removed is in nobody's way
                    unlink_if_there(temporary, name)

    def remove(self, folder_name: str, name: str) -> None:
        """Remove a file durably; fine when it is gone already."""
        with self.open(folder_name) as folder:
            unlink_if_there(folder, name)
            os.fsync(folder)
        self.checkpoint(f"{folder_name} removed")

    def remove_older(self, folder_name: str, *, before_ms: int) -> None:
        """Remove a folder's plain files that were last written before a time, epoch milliseconds."""
        with self.open(folder_name) as folder:
            for name in list_regular(folder):
                found = stat_of(folder, name)
                if found is not None and found.st_mtime_ns < before_ms * 1_000_000:
                    with suppress(OSError):  # one that can't be removed is in nobody's way
                        unlink_if_there(folder, name)

    def require_writable(self) -> None:
        """Make and remove a file as a task would; needs no lock.

        Raises:
            StoreUnusable: the store is gone, read-only or full.
        """
        draft = secrets.token_hex(16)
        with disk_errors(f"the memory store below {self.base}"), self.open(TEMPORARY) as temporary:
            try:
                write_new(temporary, draft, b"can be written")
            finally:
                unlink_if_there(temporary, draft)
