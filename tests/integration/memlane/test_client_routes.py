"""The SDK has a call for every route, and asks as the route is declared."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from urllib.parse import parse_qsl, urlsplit

import pytest
from flask import Flask

from memlane.client import Client
from memlane.errors import MemlaneApiError
from memlane.models import Document, StoredDocument
from tests.support.description import idle_app
from tests.support.scripted_client import client_of
from tests.support.scripted_service import Reply, Seen
from web.route import Route, routes_of

LEFT_OUT = {
    *("health", "live"),  # a platform's probes
    *("openapi", "asyncapi"),  # for tools that make clients
    *("receive_message", "receive_slack_event"),  # for chat services
    *("open_event_socket", "open_session_socket"),  # the streams say the same
}
TEA = StoredDocument(scope="user", path="user/tea.md", name="Tea", sha256="0" * 64)
ENTRY = {
    "sessionId": "d8320890-d4b9-4f6e-bbd5-1dff5df6fe69",
    "workspaceCwd": "/srv/w",
    "clientId": "client_7",
}
Call = Callable[[Client], object]


def on_a_task(call: str, task_id: str) -> Call:
    return lambda client: getattr(client, call)(task_id)


CALLS: Mapping[str, Call] = {
    "remember": lambda c: c.remember("x", context_mode="clean", scope="user", dry_run=True),
    "forget": lambda c: c.forget("x", scope="user", purge=True),
    "dream": lambda c: c.dream(scope="user", dry_run=True),
    "list_tasks": lambda c: list(c.tasks(status="failed", outcome="cancelled", kind="dream")),
    **{
        f"{verb}_{kind}": on_a_task(call, f"{kind}-1")
        for verb, call in (("find", "get"), ("cancel", "cancel"), ("retry", "retry"), ("apply", "apply"))
        for kind in ("remember", "forget", "dream")
    },
    "find_task": lambda c: c.get("undo-1"),
    "cancel_task": lambda c: c.cancel("undo-1"),
    "retry_task": lambda c: c.retry("undo-1"),
    "list_documents": lambda c: c.document_page(scope="user", review="waiting", limit=1_000, cursor="x"),
    "show_document": lambda c: c.document(TEA),
    "show_index": lambda c: c.index("user"),
    "search_memory": lambda c: c.search("tea", scope="user"),
    "review_document": lambda c: c.review(TEA, "approve"),
    "list_channels": lambda c: c.operators.channels(),
    "list_revisions": lambda c: c.revision_page(
        before="r7", document=Document(scope="user", path="user/tea.md")
    ),
    "show_revision": lambda c: c.revision("r1"),
    "undo_revision": lambda c: c.undo("r1"),
    "export_memory": lambda c: c.export_memory(archive_format="zip", scope="user"),
    "import_memory": lambda c: c.import_memory(b"PK", conflict="skip"),
    "capabilities": lambda c: c.capabilities(),
    "ready": lambda c: c.is_ready(),
    "stream_events": lambda c: next(c.events(last_event_id=1)),
    "enter_session": lambda c: c.attach("/srv/w", shared=False),
    "keep_session": lambda c: c.attach().heartbeat(),
    "leave_session": lambda c: c.attach().detach(),
    "close_session": lambda c: c.attach().end(),
    "stream_session": lambda c: next(c.attach().events(last_event_id=1)),
    "list_lanes": lambda c: c.operators.lanes(),
    "hold_lane": lambda c: c.operators.hold("0295621f3cf988a7"),
    "unhold_lane": lambda c: c.operators.unhold("0295621f3cf988a7"),
    "list_workers": lambda c: c.operators.workers(),
    "show_stats": lambda c: c.operators.stats(),
    "list_acts": lambda c: list(c.operators.audit("refused")),
}


@cache
def app() -> Flask:
    return idle_app()


def asked_by(call: Call) -> Seen:
    """The last request of a call; what it makes of the answer does not matter here."""
    with client_of(Reply(200, ENTRY)) as (client, service), suppress(MemlaneApiError):
        call(client)
    return service.requests[-1]


def route_of(seen: Seen) -> Route:
    """The declared route that serves a request."""
    endpoint, _ = app().url_map.bind("localhost").match(urlsplit(seen.path).path, seen.method)
    return routes_of(app())[endpoint]


def test_every_route_has_a_call():
    assert set(CALLS) == set(routes_of(app())) - LEFT_OUT


@pytest.mark.parametrize("name", CALLS)
def test_a_call_asks_at_its_route_as_that_is_declared(name: str):
    seen = asked_by(CALLS[name])

    route = route_of(seen)
    query = dict(parse_qsl(urlsplit(seen.path).query))
    assert route.name == name
    assert query == {} or route.query is not None
    if route.query is not None:
        route.query.model_validate(query)
        assert set(query) <= {field.alias or known for known, field in route.query.model_fields.items()}
    if route.body is not None:
        body = json.loads(seen.body)
        route.body.model_validate(body)
        assert set(body) <= {field.alias or known for known, field in route.body.model_fields.items()}
