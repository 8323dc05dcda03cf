"""Live events of a workspace."""

import re
from collections.abc import Iterable

from flask import request
from werkzeug.wrappers import Request, Response

from core.workspaces import Workspaces
from events.hub import EventHub
from web.errors import UpgradeRequired
from web.handshake import HANDSHAKE_HEADERS, require_upgrade
from web.query import SocketQuery, parse_query
from web.relay import EventSource, Relay
from web.route import Route
from web.selector import select
from web.sockets import Sockets

MAX_EVENT_ID = 2**53 - 1  # beyond it JavaScript clients can't count
CURSOR_HEADERS = ("Last-Event-ID", "X-Qwen-Event-Epoch")
STREAM_HEADERS = ("X-Qwen-Event-Epoch", "X-Qwen-SSE-Stream-Id", "X-Accel-Buffering")
SOCKET_HEADERS = ("X-Qwen-Event-Epoch", "Upgrade", "Sec-WebSocket-Accept")

_EVENT_ID = re.compile(r"[0-9]{1,16}")


class EventRoutes:
    """``…/events`` as server-sent events, and over WebSocket."""

    def __init__(self, hub: EventHub, relay: Relay, workspaces: Workspaces) -> None:
        self._hub = hub
        self._relay = relay
        self._sockets = Sockets(relay)
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare both."""
        yield Route(
            name="stream_events",
            method="GET",
            path="/events",
            view=self.stream,
            reads=CURSOR_HEADERS,
            media=("text/event-stream",),
            sends=STREAM_HEADERS,
        )
        yield Route(
            name="open_event_socket",
            method="GET",
            path="/events/ws",
            view=self.converse,
            is_socket=True,
            query=SocketQuery,
            reads=(*CURSOR_HEADERS, *HANDSHAKE_HEADERS),
            status=101,
            sends=SOCKET_HEADERS,
            refusals=(UpgradeRequired,),
        )

    def stream(self, selector: str | None = None) -> Response:
        """Stream a workspace's events, from the reader's cursor if it sends one."""
        workspace = select(self._workspaces, selector)
        after, epoch = cursor_of(request)
        return streamed(self._relay, self._hub.open(workspace.id, after=after, epoch=epoch), request)

    def converse(self, selector: str | None = None) -> Response:
        """Tell a workspace's events on a WebSocket, from the reader's cursor if it sends one."""
        workspace = select(self._workspaces, selector)
        require_upgrade(request)
        after, epoch = socket_cursor_of(request, parse_query(SocketQuery, request.args))
        return self._sockets.respond(self._hub.open(workspace.id, after=after, epoch=epoch), request.environ)


def cursor_of(request: Request) -> tuple[int | None, str | None]:
    """Read where a reader stands: the last event that it has, and the epoch of its log, as far as it says."""
    after = parse_event_id(request.headers.get("Last-Event-ID", ""))
    return after, request.headers.get("X-Qwen-Event-Epoch") or None


def socket_cursor_of(request: Request, query: SocketQuery) -> tuple[int | None, str | None]:
    """Read the same of a request for a WebSocket, whose query goes before its headers."""
    after, epoch = cursor_of(request)
    if query.last_event_id is not None:
        after = parse_event_id(query.last_event_id)
    return after, query.epoch or epoch


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
