"""Archives as people and attackers make them."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterable

from core.acp import ArchiveFormat
from tests.support.memory import note

Member = tuple[str, bytes]
GOOD: Member = ("user/user/tea.md", note("Tea"))


def zipped(*members: Member, edit: Callable[[zipfile.ZipInfo], None] | None = None) -> bytes:
    """A zip of files; ``edit`` changes the entry of each but the first."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number, (name, content) in enumerate(members):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            if edit is not None and number:
                edit(entry)
            archive.writestr(entry, content)
    return packed.getvalue()


def tarred(*members: Member, edit: Callable[[tarfile.TarInfo], None] | None = None) -> bytes:
    """A tar.gz of files; ``edit`` changes the header of each but the first."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for number, (name, content) in enumerate(members):
            header = tarfile.TarInfo(name)
            header.size = len(content)
            if edit is not None and number:
                edit(header)
            archive.addfile(header, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), 1)


def archive_of(archive_format: ArchiveFormat, members: Iterable[Member]) -> bytes:
    """An archive of files, of either format."""
    return zipped(*members) if archive_format == "zip" else tarred(*members)
