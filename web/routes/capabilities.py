"""What this service can do, for clients that ask before they try."""

from collections.abc import Iterable, Sequence

from flask import request
from werkzeug.wrappers import Response

from core.acp import MAX_BODY_BYTES, MAX_CONTENT_BYTES
from core.workspaces import Workspace, Workspaces
from events.errors import StorageUnavailable
from jobs.client import JobsClient
from jobs.limits import MAX_PENDING
from web.answers.service import Capabilities, FeatureDetails, Limits, ServedWorkspace
from web.errors import Forbidden
from web.principal import Principal, principal_of
from web.problems import json_response
from web.route import Route

FEATURES = (
    "workspace_memory_remember",
    "workspace_memory_remember_project_scope",
    "workspace_memory_remember_user_scope",
    "workspace_memory_forget",
    "workspace_memory_forget_scope",
    "workspace_memory_dream",
    "workspace_qualified_memory",
    "session_create",
    "session_scope_override",
    "session_events",
    "session_close",
    "client_identity",
    "client_heartbeat",
    "slow_client_warning",
    "memlane_workspace_events",
    "memlane_event_sockets",
    "memlane_memory_preview",
    "memlane_memory_archive",
    "memlane_idempotency_key",
    "memlane_task_list",
    "memlane_task_retry",
    "memlane_task_wait",
)
FEATURE_DETAILS = {"workspace_memory_remember": FeatureDetails(modes=["workspace", "clean"])}
LIMITS = Limits(content_bytes=MAX_CONTENT_BYTES, body_bytes=MAX_BODY_BYTES, pending_tasks=MAX_PENDING)


class CapabilityRoutes:
    """``/capabilities``."""

    def __init__(self, jobs: JobsClient, workspaces: Workspaces) -> None:
        self._jobs = jobs
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the route."""
        yield Route(
            name="capabilities",
            method="GET",
            path="/capabilities",
            view=self.show,
            is_global=True,
            answer=Capabilities,
        )

    def show(self) -> Response:
        """List features, the caller's workspaces, limits, and the models in use if that can be told."""
        body = _describe(self._shown_to(principal_of(request)))
        try:
            models = sorted(self._jobs.models())
        except StorageUnavailable:
            models = None
        return json_response(body.model_copy(update={"models": models}).to_wire())

    def _shown_to(self, principal: Principal) -> list[Workspace]:
        shown = principal.workspaces_among(self._workspaces)
        if not shown:
            raise Forbidden
        return shown


def _describe(workspaces: Sequence[Workspace]) -> Capabilities:
    return Capabilities(
        features=list(FEATURES),
        feature_details=FEATURE_DETAILS,
        workspace_cwd=workspaces[0].path,
        transports=["rest"],
        workspaces=[
            # nothing here runs a workspace's code, so none needs to earn trust first
            ServedWorkspace(id=workspace.id, cwd=workspace.path, primary=workspace.primary, trusted=True)
            for workspace in workspaces
        ],
        limits=LIMITS,
    )
