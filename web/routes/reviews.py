"""What a person decides on a document that waits for a review."""

from collections.abc import Iterable
from urllib.parse import unquote

from flask import g, request
from werkzeug.wrappers import Response

from core.workspaces import Workspaces
from jobs.client import JobsClient
from jobs.tasks import Submission
from memory.content import digest
from memory.errors import CommitConflict, StoreUnusable
from memory.library import KnownDocument, Library
from memory.names import is_pinned
from memory.standing import is_under_review
from web.client_id import CLIENT_ID_HEADER, Callers
from web.door import REQUEST_ID
from web.errors import DocumentNotFound, NotUnderReview
from web.offload import offload
from web.query import scope_of
from web.route import Route
from web.routes.memory import ACCEPTED_HEADERS, ANY_TASK, SUBMIT_REFUSALS, accepted
from web.schemas import ReviewBody, TaskObject, parse_body
from web.selector import select


class ReviewRoutes:
    """``…/memory/documents/:scope/:path/review``."""

    def __init__(
        self, jobs: JobsClient, library: Library, workspaces: Workspaces, *, callers: Callers
    ) -> None:
        self._jobs = jobs
        self._callers = callers
        self._library = library
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the route."""
        path = "/memory/documents/<scope>/<path:path>/review"
        yield Route(
            name="review_document",
            method="POST",
            path=path,
            view=self.review,
            role="operator",
            body=ReviewBody,
            reads=(CLIENT_ID_HEADER,),
            status=202,
            answer=TaskObject,
            sends=ACCEPTED_HEADERS,
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
        client_id = self._callers.client_of(request, workspace)
        _require_reviewed(offload(lambda: self._library.read(workspace.path, chosen, decoded)), body.sha256)
        submission = Submission(
            kind="review",
            input={"scope": chosen, "path": decoded, **body.model_dump()},
            scope=chosen,
            client_id=client_id,
            request_id=request.environ[REQUEST_ID],
        )
        task = self._jobs.submit(workspace.id, submission)
        return accepted(task, workspace, path=ANY_TASK, named=selector is not None)


def _require_reviewed(known: KnownDocument | None, sha256: str) -> None:
    """Refuse what is known now to come to nothing; the task looks again."""
    if known is None:
        raise DocumentNotFound
    path = known.file.path
    if is_pinned(path.split("/")) or not is_under_review(known.document):
        raise NotUnderReview
    if digest(known.file.content) != sha256:
        raise CommitConflict([f"{known.file.scope}/{path}"])
