"""The memory of a workspace as one archive: documents in, bytes out; pure.

Documents lie under ``user/`` and ``project/`` as in their roots, sorted, beside a ``manifest.json`` that says
what is there. Generated indexes are left out. The same documents give the same bytes.
"""

import gzip
import io
import json
import stat
import tarfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from core.acp import ArchiveFormat, Scope
from core.clock import rfc3339
from core.ids import WorkspaceId
from core.text import well_formed
from memory.beneath import FILE_MODE
from memory.content import digest
from memory.document import parse_document
from memory.errors import ArchiveTooLarge
from memory.scan import LeftOut, Listener, ReadDocument

MANIFEST_NAME = "manifest.json"
MANIFEST_VERSION = 1
MAX_UNPACKED_BYTES = 64 * 1024 * 1024

_S = 1_000_000_000
_ZIP_YEARS = (315_532_800, 4_354_819_199)  # 1980 to 2107, epoch seconds: what the format can say
_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Export:
    """What goes into an archive.

    Attributes:
        created_ms: epoch milliseconds.
        documents: sorted by scope and path.
        left_out: what could not be looked at, or has no place in an archive.
    """

    workspace: WorkspaceId
    created_ms: int
    documents: tuple[ReadDocument, ...]
    left_out: tuple[LeftOut, ...]


def gather(files: Iterable[ReadDocument], *, tell: Listener) -> tuple[ReadDocument, ...]:
    """Choose what belongs into an archive, sorted: the memories whose names every archive can hold.

    Args:
        tell: called with what is left out.

    Raises:
        ArchiveTooLarge: they have more than 64 MiB together; no more was read.
    """
    kept: list[ReadDocument] = []
    left_bytes = MAX_UNPACKED_BYTES
    for file in files:
        if parse_document(file.content) is None:
            continue
        shown = well_formed(file.path)
        if shown != file.path:
            tell(LeftOut("name_not_utf8", shown))
            continue
        left_bytes -= len(file.content)
        if left_bytes < 0:
            raise ArchiveTooLarge(f"The documents have more than {MAX_UNPACKED_BYTES // 2**20} MiB together")
        kept.append(file)
    return tuple(sorted(kept, key=lambda file: (file.scope, file.path)))


def pack(export: Export, archive_format: ArchiveFormat) -> bytes:
    """Write an archive."""
    packed = io.BytesIO()
    write = _write_zip if archive_format == "zip" else _write_tar
    write(packed, export)
    return packed.getvalue()


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    content: bytes
    mtime_s: int


def _members(export: Export) -> Iterator[_Member]:
    manifest = json.dumps(_manifest(export), indent=1).encode("ascii")
    yield _Member(MANIFEST_NAME, manifest, export.created_ms // 1000)
    for file in export.documents:
        yield _Member(f"{file.scope}/{file.path}", file.content, file.mtime_ns // _S)


def _manifest(export: Export) -> Mapping[str, Any]:
    return {
        "version": MANIFEST_VERSION,
        "created": rfc3339(export.created_ms),
        "workspaceId": export.workspace,
        "documents": [_describe(file) for file in export.documents],
        "leftOut": [{"cause": one.cause, "path": well_formed(one.path)} for one in export.left_out],
    }


def _describe(file: ReadDocument) -> Mapping[str, Scope | str]:
    return {
        "scope": file.scope,
        "path": file.path,
        "sha256": digest(file.content),
        "modifiedAt": rfc3339(file.mtime_ns // 1_000_000),
    }


def _write_tar(packed: io.BytesIO, export: Export) -> None:
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=_LEVEL, mtime=0) as stream,
        tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member in _members(export):
            entry = tarfile.TarInfo(member.name)
            entry.size, entry.mtime, entry.mode = len(member.content), member.mtime_s, FILE_MODE
            archive.addfile(entry, io.BytesIO(member.content))


def _write_zip(packed: io.BytesIO, export: Export) -> None:
    first_s, last_s = _ZIP_YEARS
    with zipfile.ZipFile(packed, "w") as archive:
        for member in _members(export):
            written = datetime.fromtimestamp(min(max(member.mtime_s, first_s), last_s), UTC)
            entry = zipfile.ZipInfo(member.name, written.timetuple()[:6])
            entry.external_attr = (stat.S_IFREG | FILE_MODE) << 16
            archive.writestr(entry, member.content, zipfile.ZIP_DEFLATED, _LEVEL)
