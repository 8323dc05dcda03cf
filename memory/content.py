"""The bytes of one file in an open folder: read whole, written whole, told apart by digest."""

import hashlib
import os
import stat

from memory.beneath import create_file, open_file, open_regular, stat_of
from memory.descriptors import read_chunks, write_all
from memory.errors import StoreUnusable, TooLarge


def read_regular(folder: int, name: str, *, max_bytes: int) -> bytes:
    """Read a file as ``beneath.open_regular`` opens it.

    Raises:
        DocumentMissing, PathEscape, PathRefused: as for ``open_regular``.
        TooLarge: more than ``max_bytes``.
    """
    with open_regular(folder, name) as opened:
        content = b"".join(read_chunks(opened, max_bytes=max_bytes + 1))
    if len(content) > max_bytes:
        raise TooLarge(f"{name!r} is larger than {max_bytes} bytes")
    return content


def write_new(folder: int, name: str, content: bytes) -> None:
    """Create a file (0600 whatever the umask), write it whole and fsync it.

    Raises:
        FileExistsError: the name is taken.
        OSError: the disk failed; a partial file may stay under that name.
    """
    with create_file(folder, name) as opened:
        write_all(opened, content)
        os.fsync(opened)


def write_undurable(folder: int, name: str, content: bytes, *, mtime_ns: int) -> None:
    """Create a file as ``write_new`` does, without the fsync: ``make_durable`` has to follow.

    Args:
        mtime_ns: its modification time, nanoseconds since the epoch.
    """
    with create_file(folder, name) as opened:
        write_all(opened, content)
        os.utime(opened, ns=(mtime_ns, mtime_ns))


def make_durable(folder: int, name: str) -> None:
    """Fsync a file of ours.

    Raises:
        OSError: it is gone, or the disk failed.
    """
    with open_file(folder, name) as opened:
        os.fsync(opened)


def digest(content: bytes) -> str:
    """SHA-256 of a document's bytes in hex: how the store tells versions apart."""
    return hashlib.sha256(content).hexdigest()


def digest_of(folder: int, name: str) -> str | None:
    """Digest of whatever stands at a name, never following it; None when there is nothing.

    A regular file of any size gives the digest of its bytes; a link or special file gives a
    text that is no digest, so it never equals a version we know.

    Raises:
        StoreUnusable: a folder stands there.
    """
    found = stat_of(folder, name)
    if found is None:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise StoreUnusable(f"a folder stands in the place of the document {name!r}")
    if not stat.S_ISREG(found.st_mode):
        return f"special:{stat.S_IFMT(found.st_mode):o}"
    try:
        with open_file(folder, name) as opened:
            whole = hashlib.sha256()
            for chunk in read_chunks(opened):
                whole.update(chunk)
            return whole.hexdigest()
    except FileNotFoundError:
        return None
