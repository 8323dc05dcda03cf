"""Client sessions: entered, kept alive, left, closed, listened to."""

from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import unquote

from flask import g, request
from werkzeug.wrappers import Response

from core.clock import rfc3339
from core.ids import ClientSessionId, workspace_of_client_session
from core.workspaces import Workspaces
from events.errors import SessionNotFound, SubscriberLimitExceeded
from events.session_stream import SessionStreams
from events.sessions import ClientSessions
from web.answers.sessions import Heartbeat, SessionEntry
from web.client_id import CLIENT_ID_HEADER, caller_of
from web.cursor import CURSOR_HEADERS, cursor_of, socket_cursor_of
from web.errors import UpgradeRequired, WorkspaceMismatch
from web.gate import entered
from web.handshake import HANDSHAKE_HEADERS, require_upgrade
from web.principal import principal_of
from web.problems import json_response
from web.query import SessionSocketQuery, SessionStreamQuery, parse_query
from web.relay import EVENT_STREAM, STREAM_HEADERS, Relay
from web.route import Route
from web.schemas import SessionBody, parse_body
from web.selector import select_folder
from web.sockets import SOCKET_HEADERS, Sockets


class SessionRoutes:
    """``/session``."""

    def __init__(
        self, sessions: ClientSessions, streams: SessionStreams, workspaces: Workspaces, *, relay: Relay
    ) -> None:
        self._sessions = sessions
        self._streams = streams
        self._relay = relay
        self._sockets = Sockets(relay)
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the routes."""
        yield Route(
            name="enter_session",
            method="POST",
            path="/session",
            view=self.enter,
            is_global=True,
            body=SessionBody,
            reads=(CLIENT_ID_HEADER,),
            answer=SessionEntry,
            refusals=(WorkspaceMismatch,),
        )
        one = "/session/<session_id>"
        yield Route(
            name="keep_session",
            method="POST",
            path=f"{one}/heartbeat",
            view=self.keep,
            is_global=True,
            reads=(CLIENT_ID_HEADER,),
            answer=Heartbeat,
            refusals=(SessionNotFound,),
        )
        yield Route(
            name="leave_session",
            method="POST",
            path=f"{one}/detach",
            view=self.leave,
            is_global=True,
            reads=(CLIENT_ID_HEADER,),
            status=204,
        )
        yield Route(
            name="close_session",
            method="DELETE",
            path=one,
            view=self.close,
            is_global=True,
            reads=(CLIENT_ID_HEADER,),
            status=204,
            refusals=(SessionNotFound,),
        )
        yield Route(
            name="stream_session",
            method="GET",
            path=f"{one}/events",
            view=self.stream,
            is_global=True,
            query=SessionStreamQuery,
            reads=CURSOR_HEADERS,
            media=(EVENT_STREAM,),
            sends=STREAM_HEADERS,
            refusals=(SessionNotFound, SubscriberLimitExceeded),
        )
        yield Route(
            name="open_session_socket",
            method="GET",
            path=f"{one}/events/ws",
            view=self.converse,
            is_global=True,
            is_socket=True,
            query=SessionSocketQuery,
            reads=(*CURSOR_HEADERS, *HANDSHAKE_HEADERS),
            status=101,
            sends=SOCKET_HEADERS,
            refusals=(SessionNotFound, SubscriberLimitExceeded, UpgradeRequired),
        )

    def enter(self) -> Response:
        """Take part in a session; the answer says as which client."""
        body = parse_body(SessionBody, g.body)
        workspace = entered(principal_of(request), lambda: select_folder(self._workspaces, body.cwd))
        entry = self._sessions.enter(
            workspace.id, caller_of(request), is_shared=body.session_scope == "single"
        )
        return json_response(
            SessionEntry(
                session_id=entry.session,
                workspace_cwd=workspace.path,
                attached=entry.is_attached,
                client_id=entry.client,
                created_at=rfc3339(entry.created_ms),
            ).to_wire()
        )

    def keep(self, session_id: str) -> Response:
        """Keep a session alive."""
        caller = caller_of(request)
        session = self._require(session_id)
        at_ms = self._sessions.keep(session, caller)
        seen = Heartbeat(session_id=session, client_id=caller.client, last_seen_at=at_ms)
        return json_response(seen.to_wire())

    def leave(self, session_id: str) -> Response:
        """End a client's part in a session; well, too, if it has none."""
        caller = caller_of(request)
        with suppress(SessionNotFound):
            self._sessions.leave(self._require(session_id), caller)
        return _nothing()

    def close(self, session_id: str) -> Response:
        """End a session and its streams."""
        caller = caller_of(request)
        self._sessions.close(self._require(session_id), caller)
        return _nothing()

    def stream(self, session_id: str) -> Response:
        """Stream what happens in a session's workspace until the session is closed."""
        max_lag = parse_query(SessionStreamQuery, request.args).max_queued
        session, cursor = self._require(session_id), cursor_of(request)
        source = self._streams.open(session, after=cursor.after, epoch=cursor.epoch, max_lag=max_lag)
        return self._relay.answer(request, source)

    def converse(self, session_id: str) -> Response:
        """Tell the same on a WebSocket."""
        query = parse_query(SessionSocketQuery, request.args)
        session, cursor = self._require(session_id), socket_cursor_of(request, query)
        require_upgrade(request)
        source = self._streams.open(session, after=cursor.after, epoch=cursor.epoch, max_lag=query.max_queued)
        return self._sockets.respond(source, request.environ)

    def _require(self, segment: str) -> ClientSessionId:
        """Read a path's segment as the id of a session that is served here, and to this caller."""
        session = unquote(segment)
        workspace = workspace_of_client_session(session)
        if workspace is None or self._workspaces.by_id(workspace) is None:
            raise SessionNotFound(session)
        if not principal_of(request).may_enter(workspace):
            raise SessionNotFound(session)
        return ClientSessionId(session)


def _nothing() -> Response:
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response
