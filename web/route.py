"""What callers can ask for: one declaration a route, from which the routing and who may use it come."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol

from flask import Flask
from pydantic import BaseModel
from werkzeug.routing import PathConverter
from werkzeug.wrappers import Response

from core.errors import MemlaneError
from web.principal import TokenRole
from web.selector import rules_for

ROUTES = "memlane.routes"

Role = Literal["open", "signed", "client", "operator"]
Method = Literal["GET", "POST", "DELETE"]
View = Callable[..., Response]
Audited = Callable[[Mapping[str, Any]], bool]


def never(_body: Mapping[str, Any]) -> bool:
    """Say of no request that it is worth a record."""
    return False


def always(_body: Mapping[str, Any]) -> bool:
    """Say of every request that it is worth a record."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One thing that callers can ask for.

    Attributes:
        name: unique; Flask's endpoint, and the start of the operation's id in the OpenAPI document.
        path: Flask's rule, below a workspace or, with ``is_global``, from the root.
        view: gets the path's parameters, and ``selector`` where the path names a workspace.
        role: what a caller's token must have; ``open`` and ``signed`` ask for none, and the latter's view
            admits what is signed with a secret of its own.
        is_global: whether the route belongs to no workspace.
        is_socket: whether the view answers requests for a WebSocket; it gets ordinary ones, too, to refuse.
        query: model of the query string.
        body: model of the body; None where no JSON is read.
        takes: content types of a body that is no JSON.
        reads: headers of the request that this route looks at, beyond those that any route does.
        status: of the answer when all went well.
        repeat_status: of the answer to what was done before; None where there is no such answer.
        answer: model of that answer's body; None for one without a body, or that is no JSON.
        media: content types of an answer that is no JSON.
        sends: headers of that answer, beyond those of any; one with an ``ETag`` can be a 304.
        refusals: errors of this route alone, beyond those that any route can end with or that what it reads
            can be refused with.
        audited: tells from a request's body whether the audit is to have it. It has all that operators alone
            may do, reading aside.
    """

    name: str
    method: Method
    path: str
    view: View
    role: Role = "client"
    is_global: bool = False
    is_socket: bool = False
    query: type[BaseModel] | None = None
    body: type[BaseModel] | None = None
    takes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    status: int = 200
    repeat_status: int | None = None
    answer: type[BaseModel] | None = None
    media: tuple[str, ...] = ()
    sends: tuple[str, ...] = ()
    refusals: tuple[type[MemlaneError], ...] = ()
    audited: Audited = never

    @property
    def token_role(self) -> TokenRole | None:
        """What a caller's token must have; None where no token is asked for."""
        return None if self.role == "open" or self.role == "signed" else self.role  # noqa: PLR1714 - as mypy narrows

    @property
    def asks_for_token(self) -> bool:
        """Whether callers need a token."""
        return self.token_role is not None

    @property
    def rules(self) -> tuple[str, ...]:
        """Where it is served: for a workspace's route the primary's path and the named one's."""
        return (self.path,) if self.is_global else rules_for(self.path)

    def name_at(self, rule: str) -> str:
        """Its name at one of its rules, in descriptions of the interface."""
        return self.name if rule == self.rules[0] else f"{self.name}_of_workspace"

    def is_on_record(self, body: Mapping[str, Any]) -> bool:
        """Whether the audit is to have a request with this body."""
        return (self.role == "operator" and self.method != "GET") or self.audited(body)


class DocumentPath(PathConverter):
    """Rest of a path that names a document; what follows it has routes of its own."""

    regex = r"[^/].*?(?<!/review)"


class HasRoutes(Protocol):
    """A part of the interface."""

    def routes(self) -> Iterable[Route]:
        """Declare what it serves."""


def serve_routes(app: Flask, parts: Iterable[HasRoutes]) -> None:
    """Let the application serve the routes of these parts; ``routes_of`` tells them afterwards."""
    app.url_map.converters["document"] = DocumentPath
    routes = {route.name: route for part in parts for route in part.routes()}
    for route in routes.values():
        for rule in route.rules:
            app.add_url_rule(rule, endpoint=route.name, view_func=route.view, methods=[route.method])
            if route.is_socket:  # a rule is for the one kind of request or for the other
                app.add_url_rule(rule, endpoint=route.name, methods=[route.method], websocket=True)
    app.extensions[ROUTES] = MappingProxyType(routes)


def routes_of(app: Flask) -> Mapping[str, Route]:
    """Every route of an application, by name."""
    routes: Mapping[str, Route] = app.extensions[ROUTES]
    return routes
