"""The history for people: a git repository that shows what the journal holds.

It can be made anew from the journal, without the texts that a prune took from that: remove ``history.git``.
"""

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.logs import get_logger
from memory.errors import StoreBusy, StoreUnusable
from memory.external import ExternalRecords
from memory.files import STORE_NAME, StoreFiles
from memory.journal import Journal
from memory.lock import HISTORY_LOCK_NAME, hold_lock
from memory.projection import project
from memory.renames import Renames
from memory.replacing import replace_folder, settle_folder

if TYPE_CHECKING:
    from memory.git_repository import GitRepository

FOLDER = "history.git"
MAX_SHOWN_AT_ONCE = 20  # entries; a task that comes meanwhile waits for them, some ms each
WAIT_MS = 1_000
_POSITION = "memlane-position"
_log = get_logger(__name__)


class History:
    """Brings ``<base>/memlane/history.git`` up to the journal; needs no store lock."""

    def __init__(self, files: StoreFiles, journal: Journal, *, renames: Renames) -> None:
        self._files = files
        self._renames = renames
        self._journal = journal
        self._external = ExternalRecords(files)

    def follow(self) -> bool:
        """Show up to 20 further entries; what prevents that is logged.

        Returns:
            Whether there are more.
        """
        try:
            return self.catch_up(most=MAX_SHOWN_AT_ONCE)
        except (OSError, StoreBusy, StoreUnusable) as error:
            _log.warning("history_left", reason=str(error))
            return False

    def catch_up(self, *, most: int) -> bool:
        """Show up to so many further entries of the journal.

        An intent that has not reached its place yet is waited for, with all after it.

        Returns:
            Whether there are more that can be shown.

        Raises:
            StoreBusy: another process has been at it for a second.
            StoreUnusable: journal or history is damaged.
            OSError: the disk failed. After any of these the history is as it was, or further on.
        """
        from memory.git_repository import open_repository  # not before it is needed: see there

        with self._locked() as folder, open_repository(folder) as repository:
            self._files.checkpoint("history ready")
            return self._show(repository, most=most)

    def shown_seq(self) -> int:
        """Number of the last entry that the history shows, durably from now on; 0 for none.

        Raises:
            StoreBusy, StoreUnusable, OSError: as for ``catch_up``.
        """
        from memory.git_repository import open_repository

        with self._locked() as folder, open_repository(folder) as repository:
            shown = max(repository.last_seq(), self._position())
        os.sync()  # git's files are many, and were not worth a wait one by one
        return shown

    def forget(self, paths: Collection[str]) -> None:
        """Remove documents from the whole history, as if they had never been there.

        Args:
            paths: as ``projection.history_path`` names them.

        Raises:
            StoreBusy, StoreUnusable, OSError: as for ``catch_up``; do it again.
        """
        from memory.git_repository import copy_without

        with self._locked() as folder:
            copy_without(folder, paths)
            self._files.checkpoint("history copied")
            replace_folder(folder, renames=self._renames, checkpoint=self._files.checkpoint)

    @contextmanager
    def _locked(self) -> Iterator[Path]:
        """Hold the history's lock, and give its folder."""
        with self._files.open() as store, hold_lock(store, name=HISTORY_LOCK_NAME, wait_ms=WAIT_MS):
            self._files.checkpoint("history locked")
            folder = self._files.base / STORE_NAME / FOLDER
            settle_folder(folder)
            with self._files.open(FOLDER):  # made private, and never through a link
                pass
            yield folder

    def _show(self, repository: "GitRepository", *, most: int) -> bool:
        start, settled = max(repository.last_seq(), self._position()), self._journal.settled_seq()
        stop = min(settled, start + most)
        for seq in range(start + 1, stop + 1):
            intent = self._journal.entry(seq)
            if intent.changes:
                displaced = self._external.displaced_by(seq)
                repository.record(project(intent, displaced, base=self._files.base, holds=repository.holds))
                self._files.checkpoint("history recorded")
        if stop > repository.last_seq():
            self._files.replace(FOLDER, _POSITION, str(stop).encode())
        return stop < settled

    def _position(self) -> int:
        """Number of the last entry looked at; entries without changes are not in the repository."""
        content = self._files.read(FOLDER, _POSITION)
        try:
            return int(content or b"0")
        except ValueError as error:
            raise StoreUnusable(f"{FOLDER}/{_POSITION} is damaged") from error
