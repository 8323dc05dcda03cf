"""What a person decides on a document that waits for a review."""

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import unquote

from flask import g, request
from werkzeug.wrappers import Response

from core.workspaces import Workspaces
from memory.content import digest
from memory.errors import CommitConflict, StoreUnusable
from memory.library import KnownDocument, Library
from memory.names import is_pinned
from memory.standing import is_under_review
from web.errors import DocumentNotFound, NotUnderReview
from web.offload import offload
from web.query import scope_of
from web.reception import SUBMIT_REFUSALS, Reception, asking_route
from web.route import Route
from web.schemas import ReviewBody, parse_body
from web.selector import select


class ReviewRoutes:
    """``…/memory/documents/:scope/:path/review``."""

    def __init__(self, library: Library, workspaces: Workspaces, reception: Reception) -> None:
        self._library = library
        self._workspaces = workspaces
        self._reception = reception

    def routes(self) -> Iterable[Route]:
        """Declare the route."""
        path = "/memory/documents/<scope>/<document:path>/review"
        yield asking_route(
            name="review_document",
            path=path,
            view=self.review,
            role="operator",
            body=ReviewBody,
            refusals=(
                *SUBMIT_REFUSALS,
                DocumentNotFound,
                NotUnderReview,
                CommitConflict,
                StoreUnusable,
            ),
        )

    def review(self, scope: str, path: str, selector: str | None = None) -> Response:
        """Queue the task that approves or rejects a document as it was seen."""
        workspace = select(self._workspaces, selector)
        chosen, decoded = scope_of(scope), unquote(path)
        body = parse_body(ReviewBody, g.body)
        submission = replace(
            self._reception.asked(request, workspace, "review"),
            input={"scope": chosen, "path": decoded, **body.model_dump()},
            scope=chosen,
        )

        def check() -> None:
            known = offload(lambda: self._library.read(workspace.path, chosen, decoded))
            _require_reviewed(known, body.sha256)

        return self._reception.submit(submission, workspace, named=selector is not None, check=check)


def _require_reviewed(known: KnownDocument | None, sha256: str) -> None:
    """Refuse what is known now to come to nothing; the task looks again."""
    if known is None:
        raise DocumentNotFound
    path = known.file.path
    if is_pinned(path.split("/")) or not is_under_review(known.document):
        raise NotUnderReview
    if digest(known.file.content) != sha256:
        raise CommitConflict([f"{known.file.scope}/{path}"])
