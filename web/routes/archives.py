"""A workspace's memory as one archive: taken out, brought in."""

from collections.abc import Iterable, Mapping
from typing import Any, Final, get_args

from flask import request
from werkzeug.wrappers import Response

from core.acp import MAX_BODY_BYTES, ArchiveFormat, ConflictPolicy
from core.workspaces import Workspace, Workspaces
from jobs.client import JobsClient
from jobs.tasks import Submission, compact_json
from memory.archive import pack
from memory.errors import ArchiveTooLarge
from memory.library import Library
from memory.unpacking import unpack
from web.body import read_bytes
from web.client_id import Callers
from web.door import REQUEST_ID
from web.offload import offload
from web.query import choice_in, scopes_in
from web.route import Route, always
from web.routes.memory import ANY_TASK, accepted
from web.selector import select

_TYPES: Final[Mapping[ArchiveFormat, str]] = {"tar.gz": "application/gzip", "zip": "application/zip"}
_FORMATS: Final = {media_type: archive_format for archive_format, media_type in _TYPES.items()}
_DEFAULT_FORMAT: Final = "tar.gz"
_DEFAULT_POLICY: Final = "fail"


class ArchiveRoutes:
    """``…/memory/export`` and ``…/memory/import``."""

    def __init__(
        self, jobs: JobsClient, library: Library, workspaces: Workspaces, *, callers: Callers
    ) -> None:
        self._jobs = jobs
        self._callers = callers
        self._library = library
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the two routes."""
        yield Route(name="export_memory", method="GET", path="/memory/export", view=self.export)
        yield Route(
            name="import_memory",
            method="POST",
            path="/memory/import",
            view=self.import_archive,
            audited=always,
        )

    def export(self, selector: str | None = None) -> Response:
        """Send all memories of the wanted scopes as one archive."""
        workspace = select(self._workspaces, selector)
        scopes = scopes_in(request.args)
        archive_format = choice_in(request.args, "format", _TYPES, default=_DEFAULT_FORMAT)
        archive = offload(lambda: pack(self._library.export(workspace.path, scopes), archive_format))
        headers = {"Content-Disposition": f'attachment; filename="{_name(workspace, archive_format)}"'}
        return Response(archive, headers=headers, content_type=_TYPES[archive_format])

    def import_archive(self, selector: str | None = None) -> Response:
        """Queue the task that writes the documents of an archive."""
        workspace = select(self._workspaces, selector)
        conflict = choice_in(request.args, "conflict", get_args(ConflictPolicy), default=_DEFAULT_POLICY)
        archive = read_bytes(request, _FORMATS)
        archive_format = _FORMATS[request.mimetype]
        submission = Submission(
            kind="import",
            input=offload(lambda: _task_input(archive, archive_format)) | {"conflict": conflict},
            client_id=self._callers.client_of(request, workspace),
            request_id=request.environ[REQUEST_ID],
        )
        task = self._jobs.submit(workspace.id, submission)
        return accepted(task, workspace, path=ANY_TASK, named=selector is not None)


def _task_input(archive: bytes, archive_format: ArchiveFormat) -> dict[str, Any]:
    unpacked = unpack(archive, archive_format)
    documents = [{"scope": one.scope, "path": one.path, "content": one.content} for one in unpacked.documents]
    task_input = {"documents": documents, "skipped": unpacked.skipped}
    if len(compact_json(task_input).encode()) > MAX_BODY_BYTES:
        raise ArchiveTooLarge("The documents have more than 10 MiB together; import them in parts")
    return task_input


def _name(workspace: Workspace, archive_format: ArchiveFormat) -> str:
    return f"memory-{workspace.id}.{archive_format}"
