"""What was committed to a workspace's memory: a list, diffs, and taking one back."""

from collections.abc import Iterable
from dataclasses import replace

from flask import request
from werkzeug.wrappers import Response

from core.workspaces import Workspace, Workspaces
from jobs.client import JobsClient
from memory.errors import CommitConflict, RevisionNotFound, RevisionPruned, RevisionUndone, StoreUnusable
from memory.library import Library
from memory.revisions import RevisionPage
from web.answers.memory import RevisionPage as ShownPage
from web.answers.memory import ShownRevision
from web.memory_view import describe_changes, describe_revision
from web.offload import offload
from web.paging import link_to_older
from web.problems import json_response
from web.query import RevisionsQuery, parse_query
from web.reception import SUBMIT_REFUSALS, Reception, asking_route
from web.route import Route, always
from web.selector import select


class RevisionRoutes:
    """``…/memory/revisions``."""

    def __init__(
        self, jobs: JobsClient, library: Library, workspaces: Workspaces, *, reception: Reception
    ) -> None:
        self._jobs = jobs
        self._reception = reception
        self._library = library
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the routes."""
        path = "/memory/revisions"
        one = f"{path}/<revision>"
        yield Route(
            name="list_revisions",
            method="GET",
            path=path,
            view=self.list_revisions,
            query=RevisionsQuery,
            answer=ShownPage,
            sends=("Link",),
            refusals=(RevisionNotFound, StoreUnusable),
        )
        yield Route(
            name="show_revision",
            method="GET",
            path=one,
            view=self.show_revision,
            answer=ShownRevision,
            refusals=(RevisionNotFound, RevisionPruned, StoreUnusable),
        )
        yield asking_route(
            name="undo_revision",
            path=f"{one}/undo",
            view=self.undo,
            audited=always,
            refusals=(
                *SUBMIT_REFUSALS,
                RevisionNotFound,
                RevisionPruned,
                RevisionUndone,
                CommitConflict,
                StoreUnusable,
            ),
        )

    def list_revisions(self, selector: str | None = None) -> Response:
        """List revisions, newest first, of all documents or of one."""
        workspace = select(self._workspaces, selector)
        query = parse_query(RevisionsQuery, request.args)
        page = offload(lambda: self._page(workspace, query))
        shown = ShownPage(
            revisions=[describe_revision(one) for one in page.revisions], next_before=page.before
        )
        return json_response(shown.to_wire(), headers=link_to_older(request, page.before))

    def show_revision(self, revision: str, selector: str | None = None) -> Response:
        """Show one revision with its diffs."""
        workspace = select(self._workspaces, selector)

        def read() -> ShownRevision:
            revisions, roots = self._library.revisions(), self._library.roots(workspace.path)
            return describe_changes(revisions.find(revision, roots), revisions.diff(revision, roots))

        return json_response(offload(read).to_wire())

    def undo(self, revision: str, selector: str | None = None) -> Response:
        """Queue the task that takes a revision back."""
        workspace = select(self._workspaces, selector)
        asked = self._reception.asked(request, workspace, "undo")

        def check() -> None:
            is_idle = self._jobs.is_idle(workspace.id)
            offload(lambda: self._library.require_undoable(revision, workspace.path, is_idle=is_idle))

        return self._reception.submit(
            replace(asked, input={"revision": revision}), workspace, named=selector is not None, check=check
        )

    def _page(self, workspace: Workspace, query: RevisionsQuery) -> RevisionPage:
        revisions, roots = self._library.revisions(), self._library.roots(workspace.path)
        limit, before = query.limit, query.before
        if query.path is None or query.scope is None:
            return revisions.page(roots, limit=limit, before=before)
        return revisions.history_of(roots, query.scope, query.path, limit=limit, before=before)
