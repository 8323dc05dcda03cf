"""Tasks on a workspace's memory: submit one, look one up, cancel it, apply a preview."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from flask import g, request
from werkzeug.wrappers import Response

from core.ids import Kind, kind_of
from core.workspaces import Workspace, Workspaces
from events.errors import StorageFull
from jobs.client import JobsClient
from jobs.errors import MemoryUnavailable, NoPreview, Overloaded, QueueFull, TaskFinished
from jobs.previews import apply_preview
from jobs.tasks import Submission, Task
from memory.errors import PreviewStale, StoreUnusable
from memory.library import Library
from web.client_id import CLIENT_ID_HEADER, Callers
from web.door import REQUEST_ID
from web.errors import DreamTaskNotFound, ForgetTaskNotFound, RememberTaskNotFound, TaskNotFound
from web.offload import offload
from web.problems import json_response, revalidated
from web.route import Route, View
from web.schemas import DreamBody, ForgetBody, RememberBody, TaskBody, TaskObject, parse_body
from web.selector import prefix_of, select
from web.task_view import describe, describe_accepted

POLL_AFTER_S = 1
ANY_TASK = "/memory/tasks"
ACCEPTED_HEADERS = ("Location", "Retry-After")
SUBMIT_REFUSALS = (MemoryUnavailable, QueueFull, Overloaded, StorageFull)


@dataclass(frozen=True, slots=True)
class KindOfTask:
    """A kind that clients ask for by its own path."""

    kind: Kind
    body: type[TaskBody]
    not_found: type[TaskNotFound]

    @property
    def path(self) -> str:
        """Path of the kind below a workspace."""
        return f"/memory/{self.kind}"


KINDS_OF_TASK = (
    KindOfTask("remember", RememberBody, RememberTaskNotFound),
    KindOfTask("forget", ForgetBody, ForgetTaskNotFound),
    KindOfTask("dream", DreamBody, DreamTaskNotFound),
)


class MemoryRoutes:
    """``…/memory/{remember,forget,dream}`` and ``…/memory/tasks``."""

    def __init__(
        self, jobs: JobsClient, library: Library, workspaces: Workspaces, *, callers: Callers, home: str
    ) -> None:
        self._jobs = jobs
        self._callers = callers
        self._library = library
        self._workspaces = workspaces
        self._home = home

    def routes(self) -> Iterable[Route]:
        """Declare the routes of each kind, and of tasks of any kind."""
        for kind in KINDS_OF_TASK:
            yield from self._routes_of(kind)
        yield _finding("find_task", ANY_TASK, self.find_any, not_found=TaskNotFound)
        yield _cancelling("cancel_task", ANY_TASK, self.cancel_any, not_found=TaskNotFound)

    def _routes_of(self, kind: KindOfTask) -> Iterable[Route]:
        yield Route(
            name=kind.kind,
            method="POST",
            path=kind.path,
            view=partial(self.submit, kind),
            body=kind.body,
            reads=(CLIENT_ID_HEADER,),
            status=202,
            answer=TaskObject,
            sends=ACCEPTED_HEADERS,
            refusals=SUBMIT_REFUSALS,
        )
        find, cancel = partial(self.find, kind), partial(self.cancel, kind)
        yield _finding(f"find_{kind.kind}", kind.path, find, not_found=kind.not_found)
        yield _cancelling(f"cancel_{kind.kind}", kind.path, cancel, not_found=kind.not_found)
        yield Route(
            name=f"apply_{kind.kind}",
            method="POST",
            path=f"{kind.path}/<task_id>/apply",
            view=partial(self.apply, kind),
            reads=(CLIENT_ID_HEADER,),
            status=202,
            answer=TaskObject,
            sends=ACCEPTED_HEADERS,
            refusals=(*SUBMIT_REFUSALS, kind.not_found, NoPreview, PreviewStale),
        )

    def submit(self, kind: KindOfTask, selector: str | None = None) -> Response:
        """Queue a task: 202 with the task and where to look for it."""
        workspace = select(self._workspaces, selector)
        body = parse_body(kind.body, g.body)
        submission = Submission(
            kind=kind.kind,
            input=body.to_input(),
            context_mode=body.mode,
            scope=body.scope,
            client_id=self._callers.client_of(request, workspace),
            request_id=request.environ[REQUEST_ID],
        )
        task = self._jobs.submit(workspace.id, submission)
        return accepted(task, workspace, path=kind.path, named=selector is not None)

    def find(self, kind: KindOfTask, task_id: str, selector: str | None = None) -> Response:
        """Look a task up."""
        workspace = select(self._workspaces, selector)
        return self._shown(self._require(workspace, kind.kind, task_id, not_found=kind.not_found))

    def find_any(self, task_id: str, selector: str | None = None) -> Response:
        """Look a task of any kind up."""
        workspace = select(self._workspaces, selector)
        return self._shown(self._require(workspace, kind_of(task_id), task_id, not_found=TaskNotFound))

    def cancel(self, kind: KindOfTask, task_id: str, selector: str | None = None) -> Response:
        """Cancel a task of this kind."""
        return self._cancelled(kind.kind, task_id, selector, not_found=kind.not_found)

    def cancel_any(self, task_id: str, selector: str | None = None) -> Response:
        """Cancel a task of any kind."""
        return self._cancelled(kind_of(task_id), task_id, selector, not_found=TaskNotFound)

    def apply(self, kind: KindOfTask, task_id: str, selector: str | None = None) -> Response:
        """Queue the task that commits what a dry run showed."""
        workspace = select(self._workspaces, selector)
        preview = self._require(workspace, kind.kind, task_id, not_found=kind.not_found)
        task = apply_preview(
            self._jobs,
            workspace.id,
            preview,
            check=lambda: self._require_fresh(workspace, preview),
            request_id=request.environ[REQUEST_ID],
        )
        return accepted(task, workspace, path=kind.path, named=selector is not None)

    def _cancelled(
        self, kind: Kind | None, task_id: str, selector: str | None, *, not_found: type[TaskNotFound]
    ) -> Response:
        """Cancel a task: 202 with the task, which has ended if it never ran, and else is told to end."""
        workspace = select(self._workspaces, selector)
        viewer = self._callers.viewer_of(request, workspace)
        task = self._jobs.cancel(workspace.id, kind, task_id, viewer=viewer) if kind else None
        if task is None:
            raise not_found
        return json_response(describe(task, home=self._home), status=202)

    def _require_fresh(self, workspace: Workspace, preview: Task) -> None:
        """Refuse a preview that is known to be stale; a web that can't look leaves that to the task."""
        if not self._jobs.is_idle(workspace.id):
            return  # what memory is like when its turn comes is not known yet
        library = self._library
        with suppress(StoreUnusable):
            offload(lambda: library.foresight().require_applicable(preview.id, library.roots(workspace.path)))

    def _require(
        self, workspace: Workspace, kind: Kind | None, task_id: str, *, not_found: type[TaskNotFound]
    ) -> Task:
        viewer = self._callers.viewer_of(request, workspace)
        task = self._jobs.find(workspace.id, kind, task_id, viewer=viewer) if kind else None
        if task is None:
            raise not_found
        return task

    def _shown(self, task: Task) -> Response:
        return revalidated(describe(task, home=self._home))


def _finding(name: str, path: str, view: View, *, not_found: type[TaskNotFound]) -> Route:
    return Route(
        name=name,
        method="GET",
        path=f"{path}/<task_id>",
        view=view,
        reads=(CLIENT_ID_HEADER,),
        answer=TaskObject,
        sends=("ETag",),
        refusals=(not_found,),
    )


def _cancelling(name: str, path: str, view: View, *, not_found: type[TaskNotFound]) -> Route:
    return Route(
        name=name,
        method="POST",
        path=f"{path}/<task_id>/cancel",
        view=view,
        reads=(CLIENT_ID_HEADER,),
        status=202,
        answer=TaskObject,
        refusals=(not_found, TaskFinished),
    )


def accepted(task: Task, workspace: Workspace, *, path: str, named: bool) -> Response:
    """Answer 202 with a task just queued.

    Args:
        path: below the workspace, where tasks like it are looked up.
        named: whether the request named the workspace.
    """
    headers = {
        "Location": f"{prefix_of(workspace, named=named)}{path}/{task.id}",
        "Retry-After": str(POLL_AFTER_S),
    }
    return json_response(describe_accepted(task), status=202, headers=headers)
