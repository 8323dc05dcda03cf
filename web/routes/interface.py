"""What the interface is like, for programs."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from werkzeug.wrappers import Response

from web.answers import InterfaceDocument
from web.interface.openapi import openapi_of
from web.problems import revalidated
from web.route import Route


class InterfaceRoutes:
    """``/openapi.json``."""

    def __init__(self, routes: Callable[[], Mapping[str, Route]]) -> None:
        """Describe nothing yet.

        Args:
            routes: tells every route of the application, these included, once it serves them.
        """
        self._routes = routes

    def routes(self) -> Iterable[Route]:
        """Declare the route."""
        yield Route(
            name="openapi",
            method="GET",
            path="/openapi.json",
            view=self.openapi,
            is_global=True,
            answer=InterfaceDocument,
            sends=("ETag",),
        )

    def openapi(self) -> Response:
        """Show this document: the HTTP interface as OpenAPI 3.1."""
        return revalidated(self._openapi)

    @cached_property
    def _openapi(self) -> dict[str, Any]:
        return openapi_of(self._routes().values())
