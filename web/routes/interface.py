"""What the interface is like, for programs."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from werkzeug.wrappers import Response

from web.answers.service import InterfaceDocument
from web.interface.asyncapi import asyncapi_of
from web.interface.openapi import openapi_of
from web.problems import revalidated
from web.route import Route


class InterfaceRoutes:
    """``/openapi.json`` and ``/asyncapi.json``."""

    def __init__(self, routes: Callable[[], Mapping[str, Route]]) -> None:
        """Describe nothing yet.

        Args:
            routes: tells every route of the application, these included, once it serves them.
        """
        self._routes = routes

    def routes(self) -> Iterable[Route]:
        """Declare the routes."""
        for name, view in (("openapi", self.openapi), ("asyncapi", self.asyncapi)):
            yield Route(
                name=name,
                method="GET",
                path=f"/{name}.json",
                view=view,
                is_global=True,
                answer=InterfaceDocument,
                sends=("ETag",),
            )

    def openapi(self) -> Response:
        """Show this document: the HTTP interface as OpenAPI 3.1."""
        return revalidated(self._openapi)

    def asyncapi(self) -> Response:
        """Show where events are told and what they say, as AsyncAPI 3."""
        return revalidated(self._asyncapi)

    @cached_property
    def _asyncapi(self) -> dict[str, Any]:
        return asyncapi_of(self._routes().values())

    @cached_property
    def _openapi(self) -> dict[str, Any]:
        return openapi_of(self._routes().values())
