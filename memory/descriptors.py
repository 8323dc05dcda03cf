"""Whole reads and writes on open descriptors."""

import os
from collections.abc import Iterator

_CHUNK_BYTES = 1 << 20


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
