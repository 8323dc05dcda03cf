"""Tasks on a workspace's memory."""

from flask import Flask, g, request
from werkzeug.wrappers import Response

from core.workspaces import Workspace, Workspaces
from jobs.client import JobsClient
from jobs.tasks import Submission, Task
from web.client_id import client_id_of
from web.door import REQUEST_ID
from web.errors import RememberTaskNotFound
from web.problems import json_response
from web.schemas import parse_remember
from web.selector import prefix_of, rules_for, select
from web.task_view import describe, describe_accepted

POLL_AFTER_S = 1

_PATH = "/memory/remember"


class MemoryRoutes:
    """``…/memory/remember``: submit a task, look one up."""

    def __init__(self, jobs: JobsClient, workspaces: Workspaces, *, home: str) -> None:
        self._jobs = jobs
        self._workspaces = workspaces
        self._home = home

    def register(self, app: Flask) -> None:
        """Add the routes, each for the primary and for a named workspace."""
        for rule in rules_for(_PATH):
            app.add_url_rule(rule, view_func=self.submit, methods=["POST"])
            app.add_url_rule(f"{rule}/<task_id>", view_func=self.find, methods=["GET"])

    def submit(self, selector: str | None = None) -> Response:
        """Queue a remember task: 202 with the task and where to look for it."""
        workspace = select(self._workspaces, selector)
        body = parse_remember(g.body)
        submission = Submission(
            kind="remember",
            input=body.to_input(),
            context_mode=body.context_mode,
            scope=body.scope,
            client_id=client_id_of(request),
            request_id=request.environ[REQUEST_ID],
        )
        return _accepted(self._jobs.submit(workspace.id, submission), workspace, named=selector is not None)

    def find(self, task_id: str, selector: str | None = None) -> Response:
        """Look a remember task up."""
        workspace = select(self._workspaces, selector)
        task = self._jobs.find(workspace.id, "remember", task_id, client_id=client_id_of(request))
        if task is None:
            raise RememberTaskNotFound
        response = json_response(describe(task, home=self._home))
        response.add_etag(weak=True)
        return response.make_conditional(request.environ)


def _accepted(task: Task, workspace: Workspace, *, named: bool) -> Response:
    headers = {
        "Location": f"{prefix_of(workspace, named=named)}{_PATH}/{task.id}",
        "Retry-After": str(POLL_AFTER_S),
    }
    return json_response(describe_accepted(task), status=202, headers=headers)
