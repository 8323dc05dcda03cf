"""Archives of memory as files."""

import os
import sys
from pathlib import Path

from core.acp import MAX_BODY_BYTES, ArchiveFormat, Scope
from core.errors import ConfigError
from memlane.cli.connection import Place, connected
from memlane.cli.exits import Exit

STANDARD = "-"  # stands for standard input or output
_FORMATS: dict[str, ArchiveFormat] = {".tar.gz": "tar.gz", ".tgz": "tar.gz", ".zip": "zip"}


def format_of(file: str) -> ArchiveFormat | None:
    """The format that a file's name asks for; None when it asks for none that is known."""
    if file == STANDARD:
        return "tar.gz"
    return next((known for end, known in _FORMATS.items() if file.lower().endswith(end)), None)


def save(file: str, place: Place, *, archive_format: ArchiveFormat, scope: Scope | None) -> Exit:
    """Write the memories of a workspace to a new file (0600), or to standard output.

    Raises:
        ConfigError: the file exists or can't be written.
        MemlaneApiError: the service refused.
        Unreachable: it gave no answer. After any of these no file was made.
    """
    if file != STANDARD and os.path.lexists(file):
        raise ConfigError(f"{file} exists; name a file that doesn't")
    with connected(place) as client:
        archive = client.export_memory(archive_format=archive_format, scope=scope, workspace=place.workspace)
    if file == STANDARD:
        sys.stdout.buffer.write(archive)
    else:
        _write_new(Path(file), archive)
    return Exit.OK


def read(file: str) -> bytes:
    """Read an archive, of a size that the service takes.

    Raises:
        ConfigError: it can't be read, or is too large.
    """
    try:
        if file == STANDARD:
            archive = sys.stdin.buffer.read(MAX_BODY_BYTES + 1)
        else:
            with Path(file).open("rb") as opened:
                archive = opened.read(MAX_BODY_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}") from None
    if len(archive) > MAX_BODY_BYTES:
        raise ConfigError(f"{file} has more than {MAX_BODY_BYTES // 2**20} MiB; import it in parts")
    return archive


def _write_new(path: Path, content: bytes) -> None:
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(content)
    except OSError as error:
        path.unlink(missing_ok=True)  # a part of an archive is worse than none
        raise ConfigError(f"{path} can't be written: {error.strerror}") from None
