"""What this service can do, for clients that ask before they try."""

from collections.abc import Iterable
from typing import Any

from werkzeug.wrappers import Response

from core.acp import MAX_BODY_BYTES, MAX_CONTENT_BYTES
from core.workspaces import Workspaces
from events.errors import StorageUnavailable
from jobs.client import JobsClient
from jobs.limits import MAX_PENDING
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
    "memlane_workspace_events",
    "memlane_event_sockets",
    "memlane_memory_preview",
    "memlane_memory_archive",
)
FEATURE_DETAILS = {"workspace_memory_remember": {"modes": ["workspace", "clean"]}}
LIMITS = {"contentBytes": MAX_CONTENT_BYTES, "bodyBytes": MAX_BODY_BYTES, "pendingTasks": MAX_PENDING}


class CapabilityRoutes:
    """``/capabilities``."""

    def __init__(self, jobs: JobsClient, workspaces: Workspaces) -> None:
        self._jobs = jobs
        self._fixed = _describe(workspaces)

    def routes(self) -> Iterable[Route]:
        """Declare the route."""
        yield Route(name="capabilities", method="GET", path="/capabilities", view=self.show, is_global=True)

    def show(self) -> Response:
        """List features, workspaces, limits, and the models in use if that can be told."""
        try:
            return json_response({**self._fixed, "models": sorted(self._jobs.models())})
        except StorageUnavailable:
            return json_response(self._fixed)


def _describe(workspaces: Workspaces) -> dict[str, Any]:
    return {
        "v": 1,
        "protocolVersions": {"current": "v1", "supported": ["v1"]},
        "mode": "http-bridge",
        "features": list(FEATURES),
        "featureDetails": FEATURE_DETAILS,
        "workspaceCwd": workspaces.primary.path,
        "transports": ["rest"],
        "workspaces": [
            # nothing here runs a workspace's code, so none needs to earn trust first
            {"id": workspace.id, "cwd": workspace.path, "primary": workspace.primary, "trusted": True}
            for workspace in workspaces
        ],
        "limits": LIMITS,
    }
