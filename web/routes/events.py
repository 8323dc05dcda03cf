"""Live events of a workspace."""

import re
from collections.abc import Iterable

from flask import request
from pydantic import BaseModel, Field
from werkzeug.wrappers import Response

from core.workspaces import Workspace, Workspaces
from events.hub import EventHub
from events.subscription import Subscription
from web.door import REQUEST_ID
from web.errors import UpgradeRequired
from web.handshake import require_upgrade
from web.relay import Relay
from web.route import Route
from web.selector import select
from web.sockets import Sockets

MAX_EVENT_ID = 2**53 - 1  # beyond it JavaScript clients can't count

_EVENT_ID = re.compile(r"[0-9]{1,16}")


class SocketQuery(BaseModel):
    """Where to start, for clients that can't set headers.

    Attributes:
        last_event_id: as the header ``Last-Event-ID`` of a stream, which it goes before.
        epoch: as the header ``X-Qwen-Event-Epoch``, which it goes before.
    """

    last_event_id: str | None = Field(None, alias="lastEventId")
    epoch: str | None = None


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
            reads=("Last-Event-ID", "X-Qwen-Event-Epoch"),
            media=("text/event-stream",),
            sends=("X-Qwen-Event-Epoch", "X-Qwen-SSE-Stream-Id", "X-Accel-Buffering"),
        )
        yield Route(
            name="open_event_socket",
            method="GET",
            path="/events/ws",
            view=self.converse,
            is_socket=True,
            query=SocketQuery,
            reads=("Last-Event-ID", "X-Qwen-Event-Epoch"),
            status=101,
            refusals=(UpgradeRequired,),
        )

    def stream(self, selector: str | None = None) -> Response:
        """Stream a workspace's events, from the reader's cursor if it sends one."""
        workspace = select(self._workspaces, selector)
        subscription = self._open(workspace)
        response = self._relay.respond(subscription, request.environ.get("gunicorn.socket"))
        if request.method == "HEAD":  # a server would run through the stream to throw it away
            response.response = []
        return response

    def converse(self, selector: str | None = None) -> Response:
        """Tell a workspace's events on a WebSocket, from the reader's cursor if it sends one."""
        workspace = select(self._workspaces, selector)
        require_upgrade(request)
        query = SocketQuery.model_validate(request.args.to_dict())
        subscription = self._open(workspace, last_event_id=query.last_event_id, epoch=query.epoch)
        return self._sockets.respond(subscription, request.environ, request_id=request.environ[REQUEST_ID])

    def _open(
        self, workspace: Workspace, *, last_event_id: str | None = None, epoch: str | None = None
    ) -> Subscription:
        return self._hub.open(
            workspace.id,
            after=parse_event_id(last_event_id or request.headers.get("Last-Event-ID", "")),
            epoch=epoch or request.headers.get("X-Qwen-Event-Epoch") or None,
        )


def parse_event_id(text: str) -> int | None:
    """Read a ``Last-Event-ID``; what can't be one of our ids counts as absent."""
    if _EVENT_ID.fullmatch(text) is None or int(text) > MAX_EVENT_ID:
        return None
    return int(text)
