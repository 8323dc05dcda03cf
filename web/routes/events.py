"""Live events of a workspace."""

from collections.abc import Iterable

from flask import request
from werkzeug.wrappers import Response

from core.workspaces import Workspaces
from events.hub import EventHub
from web.cursor import CURSOR_HEADERS, cursor_of, socket_cursor_of
from web.errors import UpgradeRequired
from web.handshake import HANDSHAKE_HEADERS, require_upgrade
from web.query import SocketQuery, parse_query
from web.relay import EVENT_STREAM, STREAM_HEADERS, Relay
from web.route import Route
from web.selector import select
from web.sockets import SOCKET_HEADERS, Sockets


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
            media=(EVENT_STREAM,),
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
        cursor = cursor_of(request)
        source = self._hub.open(workspace.id, after=cursor.after, epoch=cursor.epoch)
        return self._relay.answer(request, source)

    def converse(self, selector: str | None = None) -> Response:
        """Tell a workspace's events on a WebSocket, from the reader's cursor if it sends one."""
        workspace = select(self._workspaces, selector)
        require_upgrade(request)
        cursor = socket_cursor_of(request, parse_query(SocketQuery, request.args))
        source = self._hub.open(workspace.id, after=cursor.after, epoch=cursor.epoch)
        return self._sockets.respond(source, request.environ)
