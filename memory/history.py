"""The history for people: a git repository that shows what the journal holds.

It can be made anew from the journal, without the texts that a prune took from that: remove ``history.git``.
"""

import json
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from core.logs import get_logger
from memory.errors import StoreBusy, StoreUnusable
from memory.external import ExternalRecords
from memory.files import STORE_NAME, StoreFiles
from memory.journal import Intent, Journal
from memory.lock import HISTORY_LOCK_NAME, hold_lock
from memory.projection import history_path, project
from memory.renames import Renames
from memory.replacing import new_beside, replace_folder, settle_folder

if TYPE_CHECKING:
    from memory.git_repository import GitRepository

FOLDER = "history.git"
MAX_SHOWN_AT_ONCE = 20  # entries; a task that comes meanwhile waits for them, some ms each
WAIT_MS = 1_000
_POSITION = "memlane-position"
_PURGED = "memlane-purged"
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
            self._note_purged({*self._purged(), *paths}, folder_name=new_beside(folder).name)
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
                self._record(intent, repository)
                self._files.checkpoint("history recorded")
        if stop > max(start, repository.last_seq()):
            self._files.replace(FOLDER, _POSITION, str(stop).encode())
        return stop < settled

    def _record(self, intent: Intent, repository: "GitRepository") -> None:
        purged = self._purged()

        def holds(path: str, content: bytes | None) -> bool:
            # what a purge left of a document is no change of another writer's
            return repository.holds(path, content) or (path in purged and repository.holds(path, None))

        displaced = self._external.displaced_by(intent.seq)
        repository.record(project(intent, displaced, base=self._files.base, holds=holds))
        shown = {history_path(*change.name) for change in intent.changes if not change.pruned}
        if not purged.isdisjoint(shown):
            self._note_purged(purged - shown, folder_name=FOLDER)

    def _purged(self) -> frozenset[str]:
        """Documents that a purge took out of the history, and that have not come back since."""
        content = self._files.read(FOLDER, _PURGED)
        try:
            return frozenset(map(str, json.loads(content or b"[]")))
        except (ValueError, TypeError) as error:
            raise StoreUnusable(f"{FOLDER}/{_PURGED} is damaged") from error

    def _note_purged(self, paths: Collection[str], *, folder_name: str) -> None:
        self._files.replace(folder_name, _PURGED, json.dumps(sorted(paths)).encode())

    def _position(self) -> int:
        """Number of the last entry looked at; entries without changes are not in the repository."""
        content = self._files.read(FOLDER, _POSITION)
        try:
            return int(content or b"0")
        except ValueError as error:
            raise StoreUnusable(f"{FOLDER}/{_POSITION} is damaged") from error
