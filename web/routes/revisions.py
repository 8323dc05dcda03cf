"""What was committed to a workspace's memory: a list, diffs, and taking one back."""

from collections.abc import Iterable
from typing import Any

from flask import request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response

from core.workspaces import Workspace, Workspaces
from jobs.client import JobsClient
from jobs.tasks import Submission
from memory.library import Library
from memory.revisions import RevisionPage
from web.client_id import Callers
from web.door import REQUEST_ID
from web.memory_view import describe_diff, describe_revision
from web.offload import offload
from web.paging import link_to_next
from web.problems import json_response
from web.query import limit_in, scope_of
from web.route import Route, always
from web.routes.memory import ANY_TASK, accepted
from web.selector import select

DEFAULT_PAGE = 50
MAX_PAGE = 200


class RevisionRoutes:
    """``…/memory/revisions``."""

    def __init__(
        self, jobs: JobsClient, library: Library, workspaces: Workspaces, *, callers: Callers
    ) -> None:
        self._jobs = jobs
        self._callers = callers
        self._library = library
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the routes."""
        path = "/memory/revisions"
        one = f"{path}/<revision>"
        yield Route(name="list_revisions", method="GET", path=path, view=self.list_revisions)
        yield Route(name="show_revision", method="GET", path=one, view=self.show_revision)
        yield Route(name="undo_revision", method="POST", path=f"{one}/undo", view=self.undo, audited=always)

    def list_revisions(self, selector: str | None = None) -> Response:
        """List revisions, newest first, of all documents or of one."""
        workspace = select(self._workspaces, selector)
        limit = limit_in(request.args, default=DEFAULT_PAGE, most=MAX_PAGE)
        query = request.args
        page = offload(lambda: self._page(workspace, query, limit=limit))
        body = {"revisions": [describe_revision(one) for one in page.revisions], "nextBefore": page.before}
        return json_response(body, headers=link_to_next(before=page.before))

    def show_revision(self, revision: str, selector: str | None = None) -> Response:
        """Show one revision with its diffs."""
        workspace = select(self._workspaces, selector)

        def read() -> dict[str, Any]:
            revisions, roots = self._library.revisions(), self._library.roots(workspace.path)
            found, diffs = revisions.find(revision, roots), revisions.diff(revision, roots)
            return describe_revision(found) | {"diff": [describe_diff(one) for one in diffs]}

        return json_response(offload(read))

    def undo(self, revision: str, selector: str | None = None) -> Response:
        """Queue the task that takes a revision back."""
        workspace = select(self._workspaces, selector)
        client_id = self._callers.client_of(request, workspace)
        is_idle = self._jobs.is_idle(workspace.id)
        offload(lambda: self._require_undoable(workspace, revision, is_idle=is_idle))
        submission = Submission(
            kind="undo",
            input={"revision": revision},
            client_id=client_id,
            request_id=request.environ[REQUEST_ID],
        )
        task = self._jobs.submit(workspace.id, submission)
        return accepted(task, workspace, path=ANY_TASK, named=selector is not None)

    def _require_undoable(self, workspace: Workspace, revision: str, *, is_idle: bool) -> None:
        """Refuse what is known to come to nothing; what tasks before it will change is not known yet."""
        roots = self._library.roots(workspace.path)
        if is_idle:
            self._library.foresight().require_undoable(revision, roots)
        else:
            self._library.revisions().require_kept(revision, roots)

    def _page(self, workspace: Workspace, query: MultiDict[str, str], *, limit: int) -> RevisionPage:
        revisions, roots = self._library.revisions(), self._library.roots(workspace.path)
        before, path = query.get("before"), query.get("path")
        if path is None:
            return revisions.page(roots, limit=limit, before=before)
        scope = scope_of(query.get("scope", ""))
        return revisions.history_of(roots, scope, path, limit=limit, before=before)
