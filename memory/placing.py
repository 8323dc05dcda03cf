"""Bring one committed change to its place in a root, at any time, after any crash.

The temporary files of a change carry its intent's random token: ``.part`` is being written,
``.tmp`` is whole (or what it was swapped for), ``.old`` is a backup or what was taken away.
"""

import os
import stat
import time
from contextlib import suppress
from dataclasses import dataclass

from memory.beneath import open_file, stat_of, unlink_if_there
from memory.content import digest, digest_of, make_durable, write_undurable
from memory.descriptors import is_being_written
from memory.errors import StoreBusy, StoreUnusable
from memory.external import ExternalRecords
from memory.files import Checkpoint
from memory.lock import HeldLock
from memory.names import TEMPORARY_PREFIX
from memory.renames import Renames

_MAX_TRIES = 8
_MAX_WAITS = 10
_WAIT_S = 0.01


@dataclass(frozen=True, slots=True)
class Placement:
    """One change, with its folder open.

    Attributes:
        folder: descriptor of the folder that holds the document.
        label: path to show and record.
        seq: of the change's intent.
        stem: start of the names of this change's temporary files.
        old: digest that the task saw, None for no file.
        new: the new bytes, None removes the file.
    """

    folder: int
    name: str
    label: str
    seq: int
    stem: str
    old: str | None
    new: bytes | None
    mtime_ns: int

    @property
    def part(self) -> str:
        """Name of the new file while it is written."""
        return self.stem + ".part"

    @property
    def ready(self) -> str:
        """Name of the new file once it is whole."""
        return self.stem + ".tmp"

    @property
    def backup(self) -> str:
        """Name of what was displaced or removed."""
        return self.stem + ".old"


def stem_of(token: str, number: int) -> str:
    """Start of the temporary names of an intent's change."""
    return f"{TEMPORARY_PREFIX}{token}-{number}"


class Placer:
    """Places changes under a held lock; what it displaces and does not know, it keeps."""

    def __init__(
        self, lock: HeldLock, *, renames: Renames, external: ExternalRecords, checkpoint: Checkpoint
    ) -> None:
        self._lock = lock
        self._renames = renames
        self._external = external
        self._checkpoint = checkpoint

    def prepare(self, placement: Placement) -> None:
        """Do before the commit what may fail: the new file is written beside its place, not yet durable.

        Raises:
            StoreUnusable: a folder stands in the document's place.
            OSError: the disk is full or refuses; ``discard`` tidies up.
        """
        stands = digest_of(placement.folder, placement.name)
        if placement.new is not None and stands != digest(placement.new):
            self._write(placement, placement.new)

    def discard(self, placement: Placement) -> None:
        """Take back what ``prepare`` made, all of it or a part."""
        unlink_if_there(placement.folder, placement.part)

    def place(self, placement: Placement) -> None:
        """Make the document what the intent says, whatever stands there now, prepared or not.

        Bytes that are neither the old nor the new version are kept as an external record. Doing it
        again changes nothing. It is durable once the folder is.

        Raises:
            StoreBusy: the lock was held too long, or others keep changing the file; do it again later.
            StoreUnusable: a folder stands in the document's place.
        """
        self._settle(placement, placement.ready)
        self._settle(placement, placement.backup)
        if placement.new is None:
            self._remove(placement)
        elif digest_of(placement.folder, placement.name) != digest(placement.new):
            self._make_ready(placement, placement.new)
            self._put(placement)
        unlink_if_there(placement.folder, placement.part)

    def _make_ready(self, placement: Placement, content: bytes) -> None:
        if digest_of(placement.folder, placement.part) != digest(content):
            unlink_if_there(placement.folder, placement.part)
            self._write(placement, content)
        make_durable(placement.folder, placement.part)
        self._checkpoint("part durable")
        os.rename(placement.part, placement.ready, src_dir_fd=placement.folder, dst_dir_fd=placement.folder)
        self._checkpoint("part ready")

    def _write(self, placement: Placement, content: bytes) -> None:
        write_undurable(placement.folder, placement.part, content, mtime_ns=placement.mtime_ns)
        self._checkpoint("part written")

    def _put(self, placement: Placement) -> None:
        for _ in range(_MAX_TRIES):
            self._lock.check()
            if digest_of(placement.folder, placement.name) is None:
                placed = self._renames.place(placement.folder, placement.ready, placement.name)
            else:
                placed = self._exchange(placement)
            if placed:
                return
        raise StoreBusy(f"{placement.label} keeps changing")

    def _exchange(self, placement: Placement) -> bool:
        swapped = self._renames.exchange(
            placement.folder, placement.ready, placement.name, backup=placement.backup
        )
        self._checkpoint("exchanged")
        if swapped:
            self._settle(placement, placement.ready)
            self._settle(placement, placement.backup)
        return swapped

    def _remove(self, placement: Placement) -> None:
        if digest_of(placement.folder, placement.name) is None:
            return
        self._lock.check()
        with suppress(FileNotFoundError):  # gone meanwhile: as it should be
            self._renames.place(placement.folder, placement.name, placement.backup)
        self._checkpoint("taken away")
        self._settle(placement, placement.backup)

    def _settle(self, placement: Placement, name: str) -> None:
        """Drop a displaced file that we know, keep one that we don't."""
        found = stat_of(placement.folder, name)
        if found is None:
            return
        if stat.S_ISDIR(found.st_mode):
            self._give_back(placement, name)
        known = {placement.old, digest(placement.new) if placement.new is not None else None}
        if stat.S_ISREG(found.st_mode) and self._stays_open(placement.folder, name):
            self._external.take(placement.folder, name, label=placement.label, seq=placement.seq)
            self._checkpoint("external taken")
        elif digest_of(placement.folder, name) not in known:
            self._external.keep(placement.folder, name, label=placement.label, seq=placement.seq)
            self._checkpoint("external kept")
        unlink_if_there(placement.folder, name)
        self._checkpoint("displaced dropped")

    @staticmethod
    def _stays_open(folder: int, name: str) -> bool:
        """Wait a moment for those who have a displaced file open for writing; nobody can open it any more."""
        with open_file(folder, name) as opened:
            for _ in range(_MAX_WAITS):
                if not is_being_written(opened):
                    return False
                time.sleep(_WAIT_S)  # the system tells nobody when a file is closed
            return True

    def _give_back(self, placement: Placement, name: str) -> None:
        # Somebody put a folder in the document's place between our look and the swap.
        with suppress(FileNotFoundError):  # a holder that died here had moved it already
            self._renames.place(placement.folder, placement.name, placement.part)
        self._checkpoint("made room")
        self._renames.place(placement.folder, name, placement.name)
        raise StoreUnusable(f"a folder stands in the place of the document {placement.label}")
