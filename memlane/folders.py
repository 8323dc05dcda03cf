"""Private folders of the service: made with mode 0700, locked by one process at a time."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core import clock
from core.errors import ConfigError

_LOCK_POLL_S = 0.05


class FolderLocked(ConfigError):
    """Another process holds the folder. Nothing was changed."""

    code = "folder_locked"


@contextmanager
def clear_path_errors(path: Path) -> Iterator[None]:
    """Turn an operating system error about ``path`` into one line for a person.

    Raises:
        ConfigError: the body met an OSError.
    """
    try:
        yield
    except OSError as error:
        raise ConfigError(f"can't use {path}: {error.strerror}") from None


def make_private(folder: Path) -> Path:
    """Make the folder and its missing parents with mode 0700, independent of the umask.

    An existing folder keeps its mode.

    Raises:
        ConfigError: it can't be made, or something else is in its place.
    """
    with clear_path_errors(folder):
        if folder.is_dir():
            return folder
        make_private(folder.parent)
        folder.mkdir(exist_ok=True)
        folder.chmod(0o700)
    return folder


class FolderLock:
    """The right to use a folder, held until closed or until the process ends.

    It belongs to the open file, so a child that inherits ``descriptor`` holds it too.
    """

    def __init__(self, descriptor: int) -> None:
        """Take over an open file that is locked."""
        self.descriptor = descriptor

    def close(self) -> None:
        """Give the lock back, as far as this process is concerned; repeating it does nothing."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def lock_folder(folder: Path, *, name: str = "lock", wait_s: float = 0.0) -> FolderLock:
    """Lock an existing folder through a file in it (flock, so it never goes stale).

    Args:
        name: of that file; each is a lock of its own, for a part of what the folder holds.
        wait_s: how long to wait for the holder, seconds.

    Raises:
        FolderLocked: someone else still holds it.
        ConfigError: the file can't be opened for writing.
    """
    path = folder / name
    with clear_path_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    deadline_ms = clock.boot_ms() + int(wait_s * 1000)
    while not _try_lock(descriptor):
        if clock.boot_ms() >= deadline_ms:
            os.close(descriptor)
            raise FolderLocked(f"{folder} is in use by another memlane")
        time.sleep(_LOCK_POLL_S)
    return FolderLock(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
