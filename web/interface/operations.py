"""One route as operations of OpenAPI: one for each path that it is served at."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

from web.idempotency import REPLAYED_HEADER
from web.interface.docstrings import docstring_of
from web.interface.headers import references_to
from web.interface.parameters import parameters_of, template_of
from web.interface.refusals import describe_refused, refused_of
from web.interface.shapes import COMPONENTS, Shapes
from web.negotiation import JSON_MEDIA
from web.preference import APPLIED_HEADER
from web.route import Route

BEARER = "bearer"

_BYTES = {"type": "string", "format": "binary"}
_ONLY_SOMETIMES = frozenset({"Link", REPLAYED_HEADER, APPLIED_HEADER})
_LENIENT = (
    f"Only `{JSON_MEDIA}` is read, with a charset of UTF-8, UTF-16 or UTF-32, plain or as gzip or deflate. "
    "A body of another type, none at all, and an array count as an empty object; unknown fields are ignored."
)


def operations_of(route: Route, shapes: Shapes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Describe a route: each path that it is served at, and the operation there."""
    for rule in route.rules:
        yield template_of(rule), _operation(route, rule, shapes)


def _operation(route: Route, rule: str, shapes: Shapes) -> dict[str, Any]:
    doc = docstring_of(route.view)
    operation: dict[str, Any] = {
        "operationId": route.name_at(rule),
        "summary": doc.summary,
        "description": doc.text,
        "tags": [_tag(route)],
        "parameters": parameters_of(route, rule),
        "responses": dict(_responses(route, rule, shapes)),
        "security": [{BEARER: []}] if route.asks_for_token else [],
        "x-memlane-role": route.role,
    }
    body = _body(route, shapes)
    return operation if body is None else operation | {"requestBody": body}


def _tag(route: Route) -> str:
    names = [name for name in route.path.split("/") if name]
    return names[1] if names[0] == "memory" else names[0]


def _body(route: Route, shapes: Shapes) -> dict[str, Any] | None:
    if route.takes:
        return {"required": True, "content": {media: {"schema": _BYTES} for media in route.takes}}
    if route.body is None:
        return None
    needs_one = any(field.is_required() for field in route.body.model_fields.values())
    schema: Mapping[str, Any] = shapes.reference(route.body)
    if not needs_one:
        schema = {"anyOf": [schema, {"type": "array"}]}
    return {"required": needs_one, "description": _LENIENT, "content": {JSON_MEDIA: {"schema": schema}}}


def _responses(route: Route, rule: str, shapes: Shapes) -> Iterator[tuple[str, Any]]:
    yield str(route.status), _success(route, shapes)
    if route.repeat_status is not None:
        yield str(route.repeat_status), _success(route, shapes)
    if "ETag" in route.sends:
        yield "304", {"description": "The caller has it already.", "headers": references_to({"ETag": True})}
    for status, refused in refused_of(route, rule).items():
        shared = refused.shared_name
        yield (
            str(status),
            {"$ref": f"{COMPONENTS}/responses/{shared}"}
            if shared
            else describe_refused(status, refused, shapes),
        )


def _success(route: Route, shapes: Shapes) -> dict[str, Any]:
    headers = {name: name not in _ONLY_SOMETIMES for name in route.sends}
    return {
        "description": HTTPStatus(route.status).phrase,
        "headers": references_to(headers, is_handshake=route.is_socket),
        **_content(route, shapes),
    }


def _content(route: Route, shapes: Shapes) -> dict[str, Any]:
    if route.media:
        return {"content": {media: {"schema": _BYTES} for media in route.media}}
    if route.answer is None:
        return {}
    return {"content": {JSON_MEDIA: {"schema": shapes.reference(route.answer)}}}


def shared_answers_of(route: Route, shapes: Shapes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Describe the refusals that a route's operations refer to by name."""
    for rule in route.rules:
        for status, refused in refused_of(route, rule).items():
            if refused.shared_name:
                yield refused.shared_name, describe_refused(status, refused, shapes)


def models_of(route: Route) -> Iterator[type[BaseModel]]:
    """The models that a route's operations refer to."""
    yield from (model for model in (route.body, route.answer) if model is not None)
