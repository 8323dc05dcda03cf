"""Tasks on a workspace's memory."""

from pathlib import Path

from flask import Flask, g, request
from werkzeug.wrappers import Response

from core.ids import is_client_id
from core.workspaces import Workspace, Workspaces
from jobs.client import JobsClient
from jobs.tasks import Submission, Task
from web.door import REQUEST_ID
from web.errors import InvalidClientId, MemoryUnavailable, RememberTaskNotFound
from web.problems import json_response
from web.schemas import parse_remember
from web.task_view import describe, describe_accepted

POLL_AFTER_S = 1

_MALFORMED_CLIENT_ID = "`X-Qwen-Client-Id` must be a non-empty token of 128 characters or fewer"


class MemoryRoutes:
    """``…/memory/remember``: submit a task, look one up."""

    def __init__(self, jobs: JobsClient, workspaces: Workspaces) -> None:
        self._jobs = jobs
        self._workspaces = workspaces
        self._home = str(Path.home())

    def register(self, app: Flask) -> None:
        """Add the routes, each for the primary and for a named workspace."""
        for prefix in ("/workspace", "/workspaces/<selector>"):
            rule = f"{prefix}/memory/remember"
            app.add_url_rule(rule, view_func=self.submit, methods=["POST"])
            app.add_url_rule(f"{rule}/<task_id>", view_func=self.find, methods=["GET"])

    def submit(self, selector: str | None = None) -> Response:
        """Queue a remember task: 202 with the task and where to look for it."""
        workspace = select(self._workspaces, selector)
        body = parse_remember(g.body)
        client_id = self._client_id(workspace)
        if not self._jobs.available(workspace.id):
            raise MemoryUnavailable
        submission = Submission(
            kind="remember",
            input=body.to_input(),
            context_mode=body.context_mode,
            scope=body.scope,
            client_id=client_id,
            request_id=request.environ[REQUEST_ID],
        )
        return _accepted(self._jobs.submit(workspace.id, submission), workspace, named=selector is not None)

    def find(self, task_id: str, selector: str | None = None) -> Response:
        """Look a remember task up."""
        workspace = select(self._workspaces, selector)
        task = self._jobs.find(workspace.id, "remember", task_id, client_id=self._client_id(workspace))
        if task is None:
            raise RememberTaskNotFound
        response = json_response(describe(task, home=self._home))
        response.add_etag(weak=True)
        return response.make_conditional(request.environ)

    def _client_id(self, workspace: Workspace) -> str | None:
        given = request.headers.get("X-Qwen-Client-Id", "")
        if not given:
            return None
        if not is_client_id(given):
            raise InvalidClientId(_MALFORMED_CLIENT_ID)
        if not self._jobs.is_registered(workspace.id, given):
            message = f'Client id "{given}" is not registered for this workspace'
            raise InvalidClientId(message, client_id=given)
        return given


def select(workspaces: Workspaces, selector: str | None) -> Workspace:
    """The workspace that a route means: the primary one, or the one its raw path segment names.

    Raises:
        WorkspaceMismatch: the segment names no configured workspace.
    """
    return workspaces.primary if selector is None else workspaces.select(selector)


def _accepted(task: Task, workspace: Workspace, *, named: bool) -> Response:
    prefix = f"/workspaces/{workspace.id}" if named else "/workspace"
    headers = {
        "Location": f"{prefix}/memory/remember/{task.id}",
        "Retry-After": str(POLL_AFTER_S),
    }
    return json_response(describe_accepted(task), status=202, headers=headers)
