"""Puts on record who did what."""

from collections.abc import Mapping
from http import HTTPStatus

from flask import g, request
from werkzeug.wrappers import Response

from core.errors import DependencyError
from core.ids import is_client_id
from core.logs import get_logger
from jobs.audit import Act, Audit
from web.client_id import CLIENT_ID_HEADER
from web.door import REQUEST_ID, TARGET
from web.errors import Forbidden
from web.principal import PRINCIPAL, principal_of
from web.route import Route

UNKNOWN_ACTION = "unknown"

_log = get_logger(__name__)


class Auditor:
    """Writes down what routes declare to be worth a record, and every refusal of a good token."""

    def __init__(self, audit: Audit, routes: Mapping[str, Route]) -> None:
        self._audit = audit
        self._routes = routes

    def note(self, response: Response) -> Response:
        """Write the current request down if it deserves that; its answer is what it was in any case."""
        if PRINCIPAL in request.environ and self._is_on_record(response.status_code):
            act = self._act(response.status_code)
            try:
                self._audit.record(act)
            except DependencyError as error:
                _log.warning("audit_not_written", action=act.action, token_name=act.token, reason=str(error))
        return response

    def _is_on_record(self, status: int) -> bool:
        if g.get("code") == Forbidden.code:
            return True
        route = self._route()
        is_counted_out = status == HTTPStatus.TOO_MANY_REQUESTS  # or else a flood would be worth a flood
        return route is not None and route.is_on_record(g.get("body", {})) and not is_counted_out

    def _route(self) -> Route | None:
        route = self._routes.get(request.endpoint or "")
        return route if route is not None and route.method == request.method else None

    def _act(self, status: int) -> Act:
        route, claimed = self._route(), request.headers.get(CLIENT_ID_HEADER, "")
        return Act(
            token=principal_of(request).id,
            action=UNKNOWN_ACTION if route is None else route.name,
            target=request.environ[TARGET].path,
            status=status,
            code=g.get("code"),
            workspace=g.get("workspace"),
            client_id=claimed if is_client_id(claimed) else None,
            request_id=request.environ[REQUEST_ID],
        )
