"""The store's own small files: written whole, durably, by the holder of its lock."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from core.errors import InputError
from memory.beneath import open_folder, unlink_if_there
from memory.content import read_regular, write_new
from memory.errors import DocumentMissing, StoreUnusable

STORE_NAME = "memlane"
_TEMPORARY = "tmp"
_MAX_BYTES = 64 * 1024 * 1024  # a journal entry holds up to 50 documents of 256 KiB as JSON

Checkpoint = Callable[[str], None]


def do_nothing(_step: str) -> None:
    """Checkpoint that does nothing."""


class StoreFiles:
    """Files below ``<base>/memlane``. All that write need the store's lock.

    Attributes:
        base: canonical path of the memory base.
        checkpoint: called with the name of each step reached.
    """

    def __init__(self, base: Path, *, checkpoint: Checkpoint = do_nothing) -> None:
        self.base = base
        self.checkpoint = checkpoint

    @contextmanager
    def open(self, *names: str) -> Iterator[int]:
        """Open a folder of the store, made when it is missing.

        Raises:
            StoreUnusable: the base is gone, or a step is a link or no folder.
        """
        with ExitStack() as stack:
            try:
                folder = stack.enter_context(open_folder(self.base, (STORE_NAME, *names), create=True))
            except InputError as error:
                raise StoreUnusable(f"the memory store below {self.base}: {error}") from error
            yield folder

    def read(self, folder_name: str, name: str) -> bytes | None:
        """Content of a file, None when there is none.

        Raises:
            StoreUnusable: a link or no plain file stands there.
        """
        try:
            with self.open(folder_name) as folder:
                return read_regular(folder, name, max_bytes=_MAX_BYTES)
        except DocumentMissing:
            return None
        except InputError as error:
            raise StoreUnusable(f"{folder_name}/{name}: {error}") from error

    def replace(self, folder_name: str, name: str, content: bytes) -> None:
        """Write a file durably, over the one that is there."""
        with self.open(folder_name) as folder, self._written(content, folder_name) as (temporary, draft):
            os.replace(draft, name, src_dir_fd=temporary, dst_dir_fd=folder)
            self.checkpoint(f"{folder_name} renamed")
            os.fsync(folder)
        self.checkpoint(f"{folder_name} durable")

    def create(self, folder_name: str, name: str, content: bytes) -> None:
        """Write a new file durably.

        Raises:
            StoreUnusable: the name is taken, so somebody else writes in spite of the lock.
        """
        with self.open(folder_name) as folder, self._written(content, folder_name) as (temporary, draft):
            try:
                os.link(draft, name, src_dir_fd=temporary, dst_dir_fd=folder, follow_symlinks=False)
            except FileExistsError:
                raise StoreUnusable(f"{folder_name}/{name} exists; is the lock honoured here?") from None
            self.checkpoint(f"{folder_name} linked")
            os.unlink(draft, dir_fd=temporary)
            os.fsync(folder)
        self.checkpoint(f"{folder_name} durable")

    @contextmanager
    def _written(self, content: bytes, what: str) -> Iterator[tuple[int, str]]:
        draft = secrets.token_hex(16)
        with self.open(_TEMPORARY) as temporary:
            try:
                write_new(temporary, draft, content)
                self.checkpoint(f"{what} written")
                yield temporary, draft
            finally:
                unlink_if_there(temporary, draft)

    def sweep(self) -> None:
        """Remove drafts that crashed holders left."""
        with self.open(_TEMPORARY) as temporary:
            for name in os.listdir(temporary):  # noqa: PTH208 - a descriptor, which Path can't list
                unlink_if_there(temporary, name)
