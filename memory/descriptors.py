"""Whole reads and writes on open descriptors, and whether others write."""

import errno
import fcntl
import os
import signal
from collections.abc import Iterator

_CHUNK_BYTES = 1 << 20
_F_SETSIG = 10  # linux/fcntl.h; the fcntl module doesn't name it


def write_all(opened: int, content: bytes) -> None:
    """Write everything, however little one call takes; blocks while a pipe is full.

    Raises:
        OSError: disk or peer failed; a first part may have been written.
    """
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(opened, rest) :]


def read_chunks(opened: int, *, max_bytes: int | None = None) -> Iterator[bytes]:
    """Read on to the end, or up to ``max_bytes``, in pieces of 1 MiB at most."""
    left = max_bytes
    while left is None or left > 0:
        chunk = os.read(opened, _CHUNK_BYTES if left is None else min(left, _CHUNK_BYTES))
        if not chunk:
            return
        left = None if left is None else left - len(chunk)
        yield chunk


def is_being_written(opened: int) -> bool:
    """Tell whether somebody has this file open for writing; False also where the system can't tell.

    Args:
        opened: descriptor of a regular file, open for reading only.
    """
    try:
        # Whoever opens the file for writing meanwhile has us signalled: by one that nobody minds.
        fcntl.fcntl(opened, _F_SETSIG, signal.SIGURG)
        fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False
