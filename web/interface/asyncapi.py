"""The AsyncAPI document: where events are told, and what each kind of them says."""

from collections.abc import Iterable, Mapping
from typing import Any

from core.version import own_version
from events.payloads import PAYLOADS, WITHOUT_ID
from web.interface.docstrings import docstring_of
from web.interface.parameters import path_parameters_of, template_of
from web.interface.shapes import COMPONENTS, Shapes
from web.negotiation import JSON_MEDIA
from web.relay import EVENT_STREAM
from web.route import Route

_ABOUT = (
    "Each workspace has one log of events. Streams relay it, as server-sent events or over WebSocket, one "
    "JSON envelope an event. Clients ignore kinds that they don't know."
)


def asyncapi_of(routes: Iterable[Route]) -> dict[str, Any]:
    """Describe the events that some of these routes stream as an AsyncAPI 3 document."""
    streams = [route for route in routes if route.is_socket or EVENT_STREAM in route.media]
    channels = {route.name_at(rule): _channel(route, rule) for route in streams for rule in route.rules}
    shapes = Shapes(PAYLOADS.values())
    return {
        "asyncapi": "3.0.0",
        "info": {"title": "memlane", "version": own_version(), "description": _ABOUT},
        "defaultContentType": JSON_MEDIA,
        "channels": channels,
        "operations": {
            f"tell_{name}": {"action": "send", "channel": {"$ref": f"#/channels/{name}"}} for name in channels
        },
        "components": {
            "messages": {kind: _message(kind, shapes) for kind in PAYLOADS},
            "schemas": shapes.components,
        },
    }


def _channel(route: Route, rule: str) -> dict[str, Any]:
    channel: dict[str, Any] = {
        "address": template_of(rule),
        "description": docstring_of(route.view).text,
        "messages": {kind: {"$ref": f"{COMPONENTS}/messages/{kind}"} for kind in PAYLOADS},
        "parameters": {known.name: {"description": known.description} for known in path_parameters_of(rule)},
    }
    return channel | {"bindings": {"ws": {"method": "GET"}}} if route.is_socket else channel


def _message(kind: str, shapes: Shapes) -> dict[str, Any]:
    model = PAYLOADS[kind]
    doc = docstring_of(model)
    return {
        "name": kind,
        "summary": doc.summary,
        "description": doc.text,
        "payload": _envelope(kind, shapes.reference(model)),
    }


def _envelope(kind: str, data: Mapping[str, Any]) -> dict[str, Any]:
    number = {"description": "place in the workspace's log", "type": "integer", "minimum": 1}
    properties = {
        "v": {"const": 1},
        "type": {"const": kind},
        "data": data,
        "originatorClientId": {"description": "who caused it, if they said", "type": "string"},
        "_meta": {
            "type": "object",
            "properties": {"serverTimestamp": {"description": "epoch milliseconds", "type": "integer"}},
            "required": ["serverTimestamp"],
        },
    }
    has_id = kind not in WITHOUT_ID
    return {
        "type": "object",
        "properties": {"id": number, **properties} if has_id else properties,
        "required": [*(["id"] if has_id else []), "v", "type", "data", "_meta"],
        "additionalProperties": False,
    }
