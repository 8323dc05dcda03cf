"""Who a request comes from: the token that it carried, by name, and what that token may do."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from werkzeug.wrappers import Request

from core.ids import WorkspaceId
from core.workspaces import Workspace

PRINCIPAL = "memlane.principal"

TokenRole = Literal["client", "operator"]


@dataclass(frozen=True, slots=True)
class Principal:
    """Somebody whose token is known.

    Attributes:
        id: stable name of the token, no secret; ``default`` is the one that the service was started with.
        role: an operator may do all that a client may.
        workspaces: those that the token is limited to; None means all that are served.
    """

    id: str
    role: TokenRole = "client"
    workspaces: frozenset[WorkspaceId] | None = None

    def has_role(self, wanted: TokenRole) -> bool:
        """Whether the token suffices for what asks for ``wanted``."""
        return self.role in (wanted, "operator")

    def may_enter(self, workspace: WorkspaceId) -> bool:
        """Whether the token is good for a workspace."""
        return self.workspaces is None or workspace in self.workspaces

    def workspaces_among(self, served: Iterable[Workspace]) -> list[Workspace]:
        """Those of the workspaces that are served which the token is good for, in their order."""
        return [workspace for workspace in served if self.may_enter(workspace.id)]


def principal_of(request: Request) -> Principal:
    """Who asks; for routes that want a token, since only those have somebody.

    Raises:
        KeyError: the route is open.
    """
    principal: Principal = request.environ[PRINCIPAL]
    return principal
