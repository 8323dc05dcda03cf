"""The locks of a store: one for all that a commit needs, one for its history."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager

from core import clock
from memory.beneath import FILE_MODE
from memory.errors import StoreBusy, StoreUnusable

LOCK_NAME = "lock"
HISTORY_LOCK_NAME = "history.lock"
WAIT_MS = 10_000
HOLD_MS = 5_000
_POLL_S = 0.01
_OPEN = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class HeldLock:
    """Proof that the lock is held, for a while."""

    def __init__(self, *, hold_ms: int) -> None:
        self._until_ms = clock.boot_ms() + hold_ms

    def check(self) -> None:
        """Call before each rename in a root.

        Raises:
            StoreBusy: held for 5 s already. On a shared file system the lock may be someone
                else's by now; what was begun is finished by the next holder.
        """
        if clock.boot_ms() >= self._until_ms:
            raise StoreBusy("the store's lock was held too long; the next holder goes on")


@contextmanager
def hold_lock(
    folder: int, *, name: str = LOCK_NAME, wait_ms: int = WAIT_MS, hold_ms: int = HOLD_MS
) -> Iterator[HeldLock]:
    """Hold a lock file in an open folder exclusively, among processes and threads.

    Args:
        folder: descriptor of the store's folder.
        name: of the file; it is made when it is missing.
        wait_ms: how long to wait for it, milliseconds.
        hold_ms: how long ``HeldLock.check`` lets the holder go on, milliseconds.

    Raises:
        StoreBusy: not free in time.
        StoreUnusable: the lock file is a link or no plain file.
    """
    deadline_ms = clock.boot_ms() + wait_ms
    opened = _acquire(folder, name)
    while opened is None:
        if clock.boot_ms() >= deadline_ms:
            raise StoreBusy(f"the store's lock was not free within {wait_ms} ms")
        time.sleep(_POLL_S)  # flock has no timeout of its own
        opened = _acquire(folder, name)
    try:
        yield HeldLock(hold_ms=hold_ms)
    finally:
        os.close(opened)


def _acquire(folder: int, name: str) -> int | None:
    opened = _open_lock(folder, name)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _still_named(folder, name, opened):
            return opened
    except BlockingIOError:
        pass
    except BaseException:
        os.close(opened)
        raise
    os.close(opened)
    return None


def _open_lock(folder: int, name: str) -> int:
    try:
        opened = os.open(name, _OPEN, FILE_MODE, dir_fd=folder)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO, errno.EISDIR}:
            raise StoreUnusable("the store's lock is no plain file") from error
        raise
    found = os.fstat(opened)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(opened)
        raise StoreUnusable("the store's lock is no plain file")
    os.fchmod(opened, FILE_MODE)  # whatever the umask took away
    return opened


def _still_named(folder: int, name: str, opened: int) -> bool:
    """Tell whether the file we locked is the one others would open: somebody may have deleted it."""
    ours = os.fstat(opened)
    try:
        named = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (named.st_dev, named.st_ino)
