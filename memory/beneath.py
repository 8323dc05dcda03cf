"""Open what lies beneath a folder without ever following a link.

Every step of a path is opened relative to the folder before it with ``O_NOFOLLOW``, so a link
that is swapped in between a check and its use gains nothing: the open fails.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from memory.errors import DocumentMissing, PathEscape, PathRefused, StoreUnusable

FOLDER_MODE = 0o700
FILE_MODE = 0o600
MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 3_000  # leaves room below PATH_MAX for the names of temporary files

_STEP = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC  # search permission is enough
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: a FIFO that somebody put in the file's place must not hang us
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def disk_errors(what: str) -> Iterator[None]:
    """Turn what the operating system refuses into an error of ours.

    Raises:
        StoreUnusable: names ``what`` and the cause.
    """
    try:
        yield
    except OSError as error:
        raise StoreUnusable(f"{what}: {error.strerror}") from error


@contextmanager
def open_folder(anchor: Path, parts: Sequence[str] = (), *, create: bool = False) -> Iterator[int]:
    """Open the folder ``parts`` below ``anchor`` and give its descriptor.

    Args:
        anchor: canonical absolute path; must exist.
        create: make missing folders below the anchor (0700, durable).

    Raises:
        DocumentMissing: a folder is missing.
        PathEscape: a step is a link.
        PathRefused: a step is not a folder, or its name is too long.
    """
    here = os.open("/", _STEP)
    try:
        for name in anchor.parts[1:]:
            here = _descend(here, name, _STEP)
        # A descriptor from O_PATH can neither be listed nor fsynced.
        here = _swap(here, os.open(".", _FOLDER, dir_fd=here))
        for name in parts:
            if create:
                _make_folder(here, name)
            here = _descend(here, name, _FOLDER)
        yield here
    finally:
        os.close(here)


def _descend(folder: int, name: str, flags: int) -> int:
    try:
        below = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise DocumentMissing(f"no folder {name!r}") from None
    except OSError as error:
        raise _explain(error, folder, name) from None
    return _swap(folder, below)


def _swap(old: int, new: int) -> int:
    os.close(old)
    return new


def _explain(error: OSError, folder: int, name: str) -> Exception:
    if error.errno == errno.ENAMETOOLONG:
        return PathRefused("the name is too long")
    if error.errno == errno.ELOOP:
        return PathEscape(f"{name!r} is a link")
    if error.errno == errno.ENOTDIR:
        with suppress(FileNotFoundError):
            if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                return PathEscape(f"{name!r} is a link")
        return PathRefused(f"{name!r} is not a folder")
    return error


def _make_folder(folder: int, name: str) -> None:
    try:
        os.mkdir(name, FOLDER_MODE, dir_fd=folder)
    except FileExistsError:
        return
    except OSError as error:
        raise _explain(error, folder, name) from None
    set_mode(folder, name, FOLDER_MODE)  # whatever the umask took away
    os.fsync(folder)


def set_mode(folder: int, name: str, mode: int) -> None:
    """Set the permissions of a file or folder, never of what a link leads to.

    Raises:
        OSError: nothing there, a link, or it belongs to somebody else.
    """
    opened = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        Path(f"/proc/self/fd/{opened}").chmod(mode)
    finally:
        os.close(opened)


def stat_of(folder: int, name: str) -> os.stat_result | None:
    """State of a name without following it; None when there is nothing.

    Raises:
        PathRefused: the name is too long.
    """
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _explain(error, folder, name) from None


@contextmanager
def open_regular(folder: int, name: str) -> Iterator[int]:
    """Open a regular file that has no second name anywhere, for reading.

    Raises:
        DocumentMissing: nothing there.
        PathEscape: a link, or a file with a second hard link (its other name may lie outside).
        PathRefused: a folder, FIFO, socket or device; the name is too long.
    """
    found = stat_of(folder, name)
    if found is None:
        raise DocumentMissing("no such file")
    _require_regular(found, name)  # before the open: opening a device can have effects
    try:
        opened = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        raise DocumentMissing("no such file") from None
    except OSError as error:
        raise _explain(error, folder, name) from None
    try:
        _require_regular(os.fstat(opened), name)
        yield opened
    finally:
        os.close(opened)


def _require_regular(found: os.stat_result, name: str) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise PathEscape(f"{name!r} is a link")
    if not stat.S_ISREG(found.st_mode):
        raise PathRefused(f"{name!r} is not a regular file")
    if found.st_nlink > 1:
        raise PathEscape(f"{name!r} has a second hard link")


@contextmanager
def open_file(folder: int, name: str) -> Iterator[int]:
    """Open whatever file stands at a name for reading, never through a link; a FIFO doesn't block.

    Raises:
        OSError: nothing there, a link, or the disk failed.
    """
    opened = os.open(name, _FILE, dir_fd=folder)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def create_file(folder: int, name: str) -> Iterator[int]:
    """Create a file (0600 whatever the umask) for writing.

    Raises:
        FileExistsError: the name is taken.
        OSError: the disk failed.
    """
    opened = os.open(name, _CREATE, FILE_MODE, dir_fd=folder)
    try:
        os.fchmod(opened, FILE_MODE)
        yield opened
    finally:
        os.close(opened)


def open_subfolder(folder: int, name: str) -> int:
    """Open a folder that stands at a name, never through a link; the caller closes the descriptor.

    Raises:
        OSError: nothing there, a link, no folder, or not readable.
    """
    return os.open(name, _FOLDER, dir_fd=folder)


def unlink_if_there(folder: int, name: str) -> None:
    """Remove a name; fine when it is gone already."""
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=folder)


def list_regular(folder: int) -> list[str]:
    """Names of the plain files in an open folder; links, folders and special files are left out."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]


def list_folders(folder: int) -> list[str]:
    """Names of the folders in an open folder; links to folders are left out."""
    with os.scandir(folder) as entries:
        return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
