"""Live events of a workspace."""

import re
from collections.abc import Iterable

from flask import request
from werkzeug.wrappers import Request, Response

from core.workspaces import Workspaces
from events.hub import EventHub
from web.relay import EventSource, Relay
from web.route import Route
from web.selector import select

MAX_EVENT_ID = 2**53 - 1  # beyond it JavaScript clients can't count
CURSOR_HEADERS = ("Last-Event-ID", "X-Qwen-Event-Epoch")
STREAM_HEADERS = ("X-Qwen-Event-Epoch", "X-Qwen-SSE-Stream-Id", "X-Accel-Buffering")

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
            reads=CURSOR_HEADERS,
            media=("text/event-stream",),
            sends=STREAM_HEADERS,
        )

    def stream(self, selector: str | None = None) -> Response:
        """Stream a workspace's events, from the reader's cursor if it sends one."""
        workspace = select(self._workspaces, selector)
        after, epoch = cursor_of(request)
        return streamed(self._relay, self._hub.open(workspace.id, after=after, epoch=epoch), request)


def cursor_of(request: Request) -> tuple[int | None, str | None]:
    """Read where a reader stands: the last event that it has, and the epoch of its log, as far as it says."""
    after = parse_event_id(request.headers.get("Last-Event-ID", ""))
    return after, request.headers.get("X-Qwen-Event-Epoch") or None


def streamed(relay: Relay, source: EventSource, request: Request) -> Response:
    """Answer with a stream; to HEAD with its headers only."""
    response = relay.respond(source, request.environ.get("gunicorn.socket"))
    if request.method == "HEAD":  # a server would run through the stream to throw it away
        response.response = []
    return response


def parse_event_id(text: str) -> int | None:
    """Read a ``Last-Event-ID``; what can't be one of our ids counts as absent."""
    if _EVENT_ID.fullmatch(text) is None or int(text) > MAX_EVENT_ID:
        return None
    return int(text)
