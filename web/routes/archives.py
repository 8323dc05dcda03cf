"""A workspace's memory as one archive: taken out, brought in."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from flask import request
from werkzeug.wrappers import Response

from core.acp import MAX_BODY_BYTES, ArchiveFormat
from core.workspaces import Workspace, Workspaces
from jobs.tasks import compact_json
from memory.archive import pack
from memory.errors import ArchiveInvalid, ArchiveTooLarge, StoreUnusable
from memory.library import Library
from memory.unpacking import unpack
from web.body import read_bytes
from web.offload import offload
from web.query import ExportQuery, ImportQuery, parse_query
from web.reception import SUBMIT_REFUSALS, Reception, asking_route
from web.route import Route, always
from web.selector import select

_TYPES: Final[Mapping[ArchiveFormat, str]] = {"tar.gz": "application/gzip", "zip": "application/zip"}
_FORMATS: Final = {media_type: archive_format for archive_format, media_type in _TYPES.items()}


class ArchiveRoutes:
    """``…/memory/export`` and ``…/memory/import``."""

    def __init__(self, library: Library, workspaces: Workspaces, reception: Reception) -> None:
        self._library = library
        self._workspaces = workspaces
        self._reception = reception

    def routes(self) -> Iterable[Route]:
        """Declare the two routes."""
        yield Route(
            name="export_memory",
            method="GET",
            path="/memory/export",
            view=self.export,
            query=ExportQuery,
            media=tuple(_FORMATS),
            sends=("Content-Disposition",),
            refusals=(ArchiveTooLarge, StoreUnusable),
        )
        yield asking_route(
            name="import_memory",
            path="/memory/import",
            view=self.import_archive,
            audited=always,
            query=ImportQuery,
            takes=tuple(_FORMATS),
            refusals=(*SUBMIT_REFUSALS, ArchiveInvalid, ArchiveTooLarge),
        )

    def export(self, selector: str | None = None) -> Response:
        """Send all memories of the wanted scopes as one archive."""
        workspace = select(self._workspaces, selector)
        query = parse_query(ExportQuery, request.args)
        archive = offload(lambda: pack(self._library.export(workspace.path, query.scopes), query.format))
        headers = {"Content-Disposition": f'attachment; filename="{_name(workspace, query.format)}"'}
        return Response(archive, headers=headers, content_type=_TYPES[query.format])

    def import_archive(self, selector: str | None = None) -> Response:
        """Queue the task that writes the documents of an archive."""
        workspace = select(self._workspaces, selector)
        conflict = parse_query(ImportQuery, request.args).conflict
        archive = read_bytes(request, _FORMATS)
        archive_format = _FORMATS[request.mimetype]
        task_input = offload(lambda: _task_input(archive, archive_format)) | {"conflict": conflict}
        submission = replace(self._reception.asked(request, workspace, "import"), input=task_input)
        return self._reception.submit(submission, workspace, named=selector is not None)


def _task_input(archive: bytes, archive_format: ArchiveFormat) -> dict[str, Any]:
    unpacked = unpack(archive, archive_format)
    documents = [{"scope": one.scope, "path": one.path, "content": one.content} for one in unpacked.documents]
    task_input = {"documents": documents, "skipped": unpacked.skipped}
    if len(compact_json(task_input).encode()) > MAX_BODY_BYTES:
        raise ArchiveTooLarge("The documents have more than 10 MiB together; import them in parts")
    return task_input


def _name(workspace: Workspace, archive_format: ArchiveFormat) -> str:
    return f"memory-{workspace.id}.{archive_format}"
