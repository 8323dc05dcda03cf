"""What a known caller may ask for: decided by the route's declaration, before any view runs."""

from collections.abc import Callable, Mapping

from flask import g, request

from core.workspaces import Workspace, Workspaces
from web.errors import Forbidden, NotAcceptable, WorkspaceMismatch
from web.negotiation import JSON, is_acceptable
from web.principal import Principal, principal_of
from web.route import Route
from web.selector import select


class Gate:
    """Holds each request against what its route declares; a route that declares nothing is closed."""

    def __init__(self, routes: Mapping[str, Route], workspaces: Workspaces) -> None:
        self._routes = routes
        self._workspaces = workspaces

    def check_role(self) -> None:
        """Let the current request pass if its token has the route's role.

        Raises:
            Forbidden: it has not, or the route is not declared.
        """
        if request.endpoint is None:
            return  # there is no such route, which its caller is told
        route = self._routes.get(request.endpoint)
        if route is None:
            raise Forbidden
        if route.token_role is not None and not principal_of(request).has_role(route.token_role):
            raise Forbidden

    def check_media(self) -> None:
        """Let the current request pass if its caller takes what the route answers with.

        Probes are answered whatever their senders take, and an answer without a body has no form.

        Raises:
            NotAcceptable: it takes other media types only.
        """
        route = self._routes.get(request.endpoint or "")
        if route is None or not route.asks_for_token or request.method == "OPTIONS":
            return
        has_body = bool(route.media) or route.answer is not None
        if has_body and not is_acceptable(request.accept_mimetypes, (*route.media, *JSON)):
            raise NotAcceptable

    def check_workspace(self) -> None:
        """Let the current request pass if its token is good for the workspace that the path means.

        ``g.workspace`` is that workspace's id afterwards.

        Raises:
            Forbidden: it is limited to others. Whether the workspace is served is not told then.
            WorkspaceMismatch: no configured workspace is meant, and the token may know.
        """
        named = request.view_args or {}
        if request.endpoint is None or (self._routes[request.endpoint].is_global and "selector" not in named):
            return
        selector = named.get("selector")
        workspace = entered(principal_of(request), lambda: select(self._workspaces, selector))
        g.workspace = workspace.id


def entered(principal: Principal, find: Callable[[], Workspace]) -> Workspace:
    """Find a workspace for somebody who may enter it.

    Args:
        find: tells which workspace is meant, or raises ``WorkspaceMismatch``.

    Raises:
        Forbidden, WorkspaceMismatch: as for ``Gate.check_workspace``.
    """
    try:
        workspace = find()
    except WorkspaceMismatch:
        if principal.workspaces is None:
            raise
        raise Forbidden from None
    if not principal.may_enter(workspace.id):
        raise Forbidden
    return workspace
