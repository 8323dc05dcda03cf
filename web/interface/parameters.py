"""What a request can say beside its body: in its path, its query and its headers."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, get_args

from core.acp import Scope
from core.errors import InputError, MemlaneError
from core.ids import TASK_ID_PATTERN, WORKSPACE_ID_PATTERN
from web.door import REQUEST_ID_HEADER, TRACEPARENT_HEADER
from web.errors import InvalidMaxQueued, InvalidScope, WorkspaceMismatch
from web.interface.headers import REQUEST_HEADERS
from web.interface.shapes import schema_of
from web.route import Route

# fields of queries that are refused with a code of their own
_OF_FIELDS = {"scope": InvalidScope, "max_queued": InvalidMaxQueued}

Parameter = Mapping[str, Any]

_VARIABLE = re.compile(r"<(?:\w+:)?(?P<name>\w+)>")


@dataclass(frozen=True, slots=True)
class PathParameter:
    """A variable part of a path.

    Attributes:
        name: in the description.
        refusals: what a bad one is refused with.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    refusals: tuple[type[MemlaneError], ...] = ()


# by the name that Flask's rules have
PATH_PARAMETERS: Mapping[str, PathParameter] = MappingProxyType(
    {
        "selector": PathParameter(
            "workspace",
            "A configured workspace: its id, or its URL-encoded absolute path.",
            {"type": "string", "pattern": f"^({WORKSPACE_ID_PATTERN}|/.*)$"},
            (WorkspaceMismatch,),
        ),
        "task_id": PathParameter(
            "taskId",
            "The task's id: its kind and a UUID.",
            {"type": "string", "pattern": f"^{TASK_ID_PATTERN}$"},
        ),
        "scope": PathParameter(
            "scope",
            "Which memory.",
            {"type": "string", "enum": list(get_args(Scope))},
            (InvalidScope,),
        ),
        "path": PathParameter(
            "path",
            "The document's path, relative to the root of its scope; its slashes may be escaped or not.",
            {"type": "string", "minLength": 1},
        ),
        "channel": PathParameter("channel", "The channel's name.", {"type": "string", "minLength": 1}),
        "session_id": PathParameter("session", "The session's id.", {"type": "string", "minLength": 1}),
        "revision": PathParameter(
            "revision",
            "The revision's id: `r` and a number.",
            {"type": "string", "pattern": "^r[1-9][0-9]{0,17}$"},
        ),
    }
)


def template_of(rule: str) -> str:
    """Write one of Flask's rules as a path of OpenAPI."""
    return _VARIABLE.sub(lambda found: f"{{{PATH_PARAMETERS[found['name']].name}}}", rule)


def parameters_of(route: Route, rule: str) -> list[Parameter]:
    """Describe all that a request for a route can say beside its body.

    Args:
        rule: the one of the route's rules that the path follows.
    """
    return [*_in_path(rule), *_in_query(route), *_in_headers(route)]


def refusals_of_parameters(route: Route, rule: str) -> Iterator[type[MemlaneError]]:
    """What a request is refused with when something beside its body is not what it must be."""
    for known in path_parameters_of(rule):
        yield from known.refusals
    for header in _headers_read_by(route):
        yield from REQUEST_HEADERS[header].refusals
    if route.query is not None:
        yield InputError
        yield from (_OF_FIELDS[name] for name in route.query.model_fields if name in _OF_FIELDS)


def path_parameters_of(rule: str) -> list[PathParameter]:
    """The variable parts of a path that follows one of Flask's rules."""
    return [PATH_PARAMETERS[name] for name in _VARIABLE.findall(rule)]


def _in_path(rule: str) -> Iterator[Parameter]:
    for known in path_parameters_of(rule):
        yield {
            "name": known.name,
            "in": "path",
            "required": True,
            "description": known.description,
            "schema": known.schema,
        }


def _in_query(route: Route) -> Iterator[Parameter]:
    if route.query is None:
        return
    described = schema_of(route.query)
    for name, schema in described["properties"].items():
        rest = {key: value for key, value in schema.items() if key != "description"}
        yield {
            "name": name,
            "in": "query",
            "required": name in described.get("required", ()),
            "description": schema.get("description", ""),
            "schema": rest,
        }


def _headers_read_by(route: Route) -> tuple[str, ...]:
    return (*route.reads, *(("If-None-Match", "If-Match") if "ETag" in route.sends else ()))


def _in_headers(route: Route) -> Iterator[Parameter]:
    for name in (*_headers_read_by(route), REQUEST_ID_HEADER, TRACEPARENT_HEADER):
        known = REQUEST_HEADERS[name]
        yield {"name": name, "in": "header", "description": known.description, "schema": known.schema}
