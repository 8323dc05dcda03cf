"""Where requests for tasks are handed in, and what they are told."""

from collections.abc import Callable
from functools import partial
from typing import Final

from werkzeug.wrappers import Request, Response

from core.ids import Kind
from core.workspaces import Workspace
from events.errors import StorageFull
from jobs.client import JobsClient, Submitted
from jobs.errors import IdempotencyConflict, IdempotencyMismatch, MemoryUnavailable, Overloaded, QueueFull
from jobs.tasks import Submission
from web.answers.tasks import TaskObject
from web.client_id import CLIENT_ID_HEADER, Callers, caller_of
from web.door import REQUEST_ID, TRACEPARENT
from web.errors import InvalidIdempotencyKey
from web.idempotency import IDEMPOTENCY_HEADER, REPLAYED_HEADER, idempotency_key_of
from web.problems import json_response
from web.route import Route
from web.selector import prefix_of
from web.task_place import place_of
from web.task_view import describe, describe_accepted

POLL_AFTER_S: Final = 1
SUBMIT_REFUSALS: Final = (
    *(InvalidIdempotencyKey, IdempotencyMismatch, IdempotencyConflict),
    *(MemoryUnavailable, QueueFull, Overloaded, StorageFull),
)

asking_route: Final = partial(
    Route,
    method="POST",
    reads=(CLIENT_ID_HEADER, IDEMPOTENCY_HEADER),
    status=202,
    answer=TaskObject,
    sends=("Location", "Retry-After", REPLAYED_HEADER),
)
"""A route that makes a task; ``refusals`` begin with ``SUBMIT_REFUSALS``."""


class Reception:
    """Has tasks accepted for every route that makes one, and answers 202 with the task."""

    def __init__(self, jobs: JobsClient, callers: Callers, *, home: str) -> None:
        """Bind the parts.

        Args:
            home: absolute path that results show as ``~``.
        """
        self._jobs = jobs
        self._callers = callers
        self._home = home

    def asked(self, request: Request, workspace: Workspace, kind: Kind) -> Submission:
        """Read from a request's headers who asks for a task; what for is the route's to add.

        Raises:
            InvalidClientId: malformed, or not registered for the workspace.
            InvalidIdempotencyKey: malformed.
            StorageUnavailable: whether the client is registered can't be told.
        """
        client_id = self._callers.client_of(request, workspace)
        # the workspace is part of the key's name in Redis
        key = idempotency_key_of(request, caller_of(request).owner, client_id or "", kind)
        return Submission(
            kind,
            {},
            client_id=client_id,
            request_id=request.environ[REQUEST_ID],
            traceparent=request.environ[TRACEPARENT],
            idempotency_keys=(key,) if key else (),
        )

    def submit(
        self,
        submission: Submission,
        workspace: Workspace,
        *,
        named: bool,
        check: Callable[[], None] | None = None,
    ) -> Response:
        """Have a task accepted.

        Args:
            named: whether the request named the workspace.
            check, and what is raised: as for ``JobsClient.accept``.
        """
        submitted = self._jobs.accept(workspace.id, submission, check=check)
        return self.answer(submitted, submission, workspace=workspace, named=named)

    def answer(
        self, submitted: Submitted, asked: Submission, *, workspace: Workspace, named: bool
    ) -> Response:
        """Tell of an accepted task, and whether this very request had made it before.

        Args:
            asked: with the idempotency key that the request came with.
            named: whether the request named the workspace.
        """
        task = submitted.task
        headers = {
            "Location": f"{prefix_of(workspace, named=named)}{place_of(task.kind).path}/{task.id}",
            "Retry-After": str(POLL_AFTER_S),
        }
        if submitted.made_by in asked.idempotency_keys:
            headers[REPLAYED_HEADER] = "true"
        shown = describe(task, home=self._home) if task.is_terminal else describe_accepted(task)
        return json_response(shown, status=202, headers=headers)
