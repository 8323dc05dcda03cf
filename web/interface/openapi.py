"""The OpenAPI document: the whole HTTP interface, from the declarations that serve it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from core.version import own_version
from web.answers.problems import ProblemDetails, ShownProblem
from web.interface.headers import header_components
from web.interface.operations import BEARER, models_of, operations_of, shared_answers_of
from web.interface.shapes import Shapes
from web.route import Route

_ABOUT = (
    "Managed memory for AI coding agents. Paths are matched as sent: an escaped slash stays in its segment. "
    "A trailing slash is accepted. OPTIONS answers with `Allow`, HEAD like GET without a body."
)


def openapi_of(routes: Iterable[Route]) -> dict[str, Any]:
    """Describe routes as an OpenAPI 3.1 document."""
    known = list(routes)
    shapes = Shapes([ShownProblem, ProblemDetails, *(model for route in known for model in models_of(route))])
    paths: dict[str, dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for route in known:
        for path, operation in operations_of(route, shapes):
            paths[path][route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "memlane", "version": own_version(), "description": _ABOUT},
        "servers": [{"url": "/"}],
        "paths": dict(paths),
        "components": {
            "schemas": shapes.components,
            "responses": dict(shared for route in known for shared in shared_answers_of(route, shapes)),
            "headers": header_components(),
            "securitySchemes": {BEARER: {"type": "http", "scheme": "bearer"}},
        },
    }
