"""Documents out of an archive that somebody sent: nothing in it is trusted, nothing is written; pure."""

import gzip
import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Self

from core.acp import MAX_IMPORTED, ArchiveFormat, Scope
from memory.archive import MAX_UNPACKED_BYTES
from memory.errors import ArchiveInvalid, ArchiveTooLarge, PathEscape, PathRefused
from memory.name_tree import NameTree
from memory.names import SUFFIX, is_index, is_pinned, require_writable, split_absolute
from memory.paths import SCOPES
from memory.validation import MAX_FILE_BYTES, find_problems

MAX_MEMBERS = 5_000
_ZIP_ENTRY = b"PK\x01\x02"  # begins each member's entry in a zip's directory
_ZIP_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})  # the others can't be inflated in steps
_IS_ENCRYPTED = 0x1
_MAX_NOTE_BYTES = 4 * 1024  # of what a tar says of its next member; a path has 3,000 at most
_NOTES = frozenset(
    {
        *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
        *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
    }
)
# what the standard library raises for bytes that are not the archive that they are said to be
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    LookupError,
    OverflowError,
    NotImplementedError,
    RecursionError,  # tarfile goes a level deeper for each header that announces another one
)


@dataclass(frozen=True, slots=True)
class UnpackedDocument:
    """A document that may be imported.

    Attributes:
        path: relative to the root of its scope, ``/`` between names.
    """

    scope: Scope
    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Unpacked:
    """What an archive holds for a memory.

    Attributes:
        skipped: documents that nobody may import: those of ``pinned/``, and indexes.
    """

    documents: tuple[UnpackedDocument, ...]
    skipped: int


def unpack(archive: bytes, archive_format: ArchiveFormat) -> Unpacked:
    """Read the documents of an archive; what is no ``.md`` file is left alone, archives in it included.

    Raises:
        ArchiveInvalid: names the first member that is not what it must be. A path that leaves the archive, a
            link or device, more than 64 MiB once inflated, more than 5,000 members, a document that could
            not be committed, two whose names are equal by case or Unicode form.
        ArchiveTooLarge: more than 2,000 documents.
    """
    members = _zip_members if archive_format == "zip" else _tar_members
    return _sort_out(members(archive))


@dataclass(frozen=True, slots=True)
class _Member:
    """A file or folder of an archive.

    Attributes:
        read: gives its bytes, at most as many as asked for.
    """

    name: str
    is_folder: bool
    read: Callable[[int], bytes]


def _sort_out(members: Iterable[_Member]) -> Unpacked:
    documents: list[UnpackedDocument] = []
    names = {scope: NameTree() for scope in SCOPES}
    skipped = 0
    for member in members:
        parts = _split(member.name)
        if member.is_folder or not parts[-1].endswith(SUFFIX):
            continue
        scope, below = _scope_of(parts, member.name), parts[1:]
        if is_pinned(below) or is_index(below[-1]):
            skipped += 1
            continue
        if len(documents) == MAX_IMPORTED:
            raise ArchiveTooLarge(f"The archive has more than {MAX_IMPORTED} documents; import it in parts")
        _require_place(below, names[scope], member.name)
        documents.append(UnpackedDocument(scope, "/".join(below), _text_of(member)))
    return Unpacked(tuple(documents), skipped)


def _split(name: str) -> tuple[str, ...]:
    if name.startswith("/"):
        raise ArchiveInvalid(name, "its path is absolute")
    try:
        parts = split_absolute(f"/{name}")
    except (PathEscape, PathRefused) as refusal:
        raise ArchiveInvalid(name, str(refusal)) from None
    return parts or (".",)


def _scope_of(parts: tuple[str, ...], name: str) -> Scope:
    for scope in SCOPES:
        if scope == parts[0] and len(parts) > 1:
            return scope
    raise ArchiveInvalid(name, "it lies neither in user/ nor in project/")


def _require_place(parts: tuple[str, ...], others: NameTree, name: str) -> None:
    """Take a place among the documents read before."""
    try:
        require_writable(parts)
        others.check(parts)
    except PathRefused as refusal:
        raise ArchiveInvalid(name, str(refusal)) from None
    if parts in others:
        raise ArchiveInvalid(name, "the archive holds it twice")
    others.add(parts)


def _text_of(member: _Member) -> str:
    content = member.read(MAX_FILE_BYTES + 1)
    for problem in find_problems(content):
        raise ArchiveInvalid(member.name, problem)
    return content.decode()


def _zip_members(archive: bytes) -> Iterator[_Member]:
    if archive.count(_ZIP_ENTRY) > MAX_MEMBERS:  # before they are read, because that takes memory for each
        raise _too_many()
    with _broken_as_invalid(), zipfile.ZipFile(io.BytesIO(archive)) as opened:
        entries = opened.infolist()
        # no member ever gives more bytes than it says here
        if sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
            raise _too_large()
        for entry in entries:
            _require_plain(entry)
            yield _Member(entry.filename, entry.is_dir(), _zip_reader(opened, entry))


def _require_plain(entry: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise ArchiveInvalid(entry.filename, "it is neither a file nor a folder")
    if "\0" in entry.orig_filename:
        raise ArchiveInvalid(entry.filename, "a path can't hold NUL")
    if entry.flag_bits & _IS_ENCRYPTED:
        raise ArchiveInvalid(entry.filename, "it is encrypted")
    if entry.compress_type not in _ZIP_METHODS:
        raise ArchiveInvalid(entry.filename, "it is compressed by an unusual method")


def _zip_reader(opened: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[int], bytes]:
    def read(max_bytes: int) -> bytes:
        with _broken_as_invalid(), opened.open(entry) as content:
            return content.read(max_bytes)

    return read


def _tar_members(archive: bytes) -> Iterator[_Member]:
    with _broken_as_invalid(), gzip.GzipFile(fileobj=io.BytesIO(archive)) as stream:
        inflated = stream.read(MAX_UNPACKED_BYTES + 1)
    if len(inflated) > MAX_UNPACKED_BYTES:
        raise _too_large()
    with (
        _broken_as_invalid(),
        tarfile.open(fileobj=io.BytesIO(inflated), mode="r:", tarinfo=_BoundedHeader) as opened,
    ):
        for number, entry in enumerate(opened):
            if number >= MAX_MEMBERS:
                raise _too_many()
            if entry.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE) or entry.issparse():
                raise ArchiveInvalid(entry.name, "it is neither a file nor a folder")
            yield _Member(entry.name, entry.isdir(), _tar_reader(opened, entry))
        if inflated[opened.offset :].strip(b"\0"):  # tarfile takes a header that it can't read for the end
            raise tarfile.ReadError("more follows")


class _BoundedHeader(tarfile.TarInfo):
    """A header that can lead neither backwards nor to notes whose parsing takes for ever."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        if header.size < 0 or (header.type in _NOTES and header.size > _MAX_NOTE_BYTES):
            raise ArchiveInvalid(header.name, "its header is not sound")
        return header


def _tar_reader(opened: tarfile.TarFile, entry: tarfile.TarInfo) -> Callable[[int], bytes]:
    def read(max_bytes: int) -> bytes:
        with _broken_as_invalid():
            content = opened.extractfile(entry)
            return content.read(max_bytes) if content is not None else b""

    return read


@contextmanager
def _broken_as_invalid() -> Iterator[None]:
    try:
        yield
    except _BROKEN:
        raise ArchiveInvalid(None, "it is damaged, or of another format than its content type says") from None


def _too_large() -> ArchiveInvalid:
    return ArchiveInvalid(None, f"it has more than {MAX_UNPACKED_BYTES} bytes once inflated")


def _too_many() -> ArchiveInvalid:
    return ArchiveInvalid(None, f"it has more than {MAX_MEMBERS} members")
