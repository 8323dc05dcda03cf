"""Live events of a workspace."""

import re
from collections.abc import Iterable

from flask import request
from werkzeug.wrappers import Response

from core.workspaces import Workspaces
from events.hub import EventHub
from web.relay import Relay
from web.route import Route
from web.selector import select

MAX_EVENT_ID = 2**53 - 1  # beyond it JavaScript clients can't count

_EVENT_ID = re.compile(r"[0-9]{1,16}")


class EventRoutes:
    """``…/events`` as server-sent events."""

    def __init__(self, hub: EventHub, relay: Relay, workspaces: Workspaces) -> None:
        self._hub = hub
        self._relay = relay
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the stream."""
        yield Route(
            name="stream_events",
            method="GET",
            path="/events",
            view=self.stream,
            reads=("Last-Event-ID", "X-Qwen-Event-Epoch"),
            media=("text/event-stream",),
            sends=("X-Qwen-Event-Epoch", "X-Qwen-SSE-Stream-Id", "X-Accel-Buffering"),
        )

    def stream(self, selector: str | None = None) -> Response:
        """Stream a workspace's events, from the reader's cursor if it sends one."""
        workspace = select(self._workspaces, selector)
        subscription = self._hub.open(
            workspace.id,
            after=parse_event_id(request.headers.get("Last-Event-ID", "")),
            epoch=request.headers.get("X-Qwen-Event-Epoch") or None,
        )
        response = self._relay.respond(subscription, request.environ.get("gunicorn.socket"))
        if request.method == "HEAD":  # a server would run through the stream to throw it away
            response.response = []
        return response


def parse_event_id(text: str) -> int | None:
    """Read a ``Last-Event-ID``; what can't be one of our ids counts as absent."""
    if _EVENT_ID.fullmatch(text) is None or int(text) > MAX_EVENT_ID:
        return None
    return int(text)
