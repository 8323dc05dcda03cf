"""Client sessions: entered, kept alive, left, closed, listened to."""

from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import unquote

from flask import g, request
from pydantic import BaseModel
from werkzeug.wrappers import Response

from core.clock import rfc3339
from core.ids import ClientSessionId, workspace_of_client_session
from core.workspaces import Workspaces
from events.errors import InvalidClientId, SessionNotFound, SubscriberLimitExceeded
from events.session_stream import SessionStreams
from events.sessions import ClientSessions
from web.client_id import caller_of
from web.errors import InvalidCwd, InvalidMaxQueued, InvalidSessionScope, WorkspaceMismatch
from web.gate import entered
from web.principal import principal_of
from web.problems import json_response
from web.query import max_queued_in
from web.relay import Relay
from web.route import Route
from web.routes.events import cursor_of, streamed
from web.schemas import Heartbeat, SessionBody, SessionEntry, StreamQuery, parse_body
from web.selector import select_folder


class SessionRoutes:
    """``/session``."""

    def __init__(
        self, sessions: ClientSessions, streams: SessionStreams, workspaces: Workspaces, *, relay: Relay
    ) -> None:
        self._sessions = sessions
        self._streams = streams
        self._relay = relay
        self._workspaces = workspaces

    def routes(self) -> Iterable[Route]:
        """Declare the routes."""
        one = "/session/<session_id>"
        unknown = (SessionNotFound, InvalidClientId)
        yield Route(
            name="enter_session",
            method="POST",
            path="/session",
            view=self.enter,
            is_global=True,
            body=SessionBody,
            answer=SessionEntry,
            refusals=(InvalidCwd, InvalidSessionScope, InvalidClientId, WorkspaceMismatch),
        )
        yield Route(
            name="keep_session",
            method="POST",
            path=f"{one}/heartbeat",
            view=self.keep,
            is_global=True,
            answer=Heartbeat,
            refusals=unknown,
        )
        yield Route(
            name="leave_session",
            method="POST",
            path=f"{one}/detach",
            view=self.leave,
            is_global=True,
            status=204,
            refusals=(InvalidClientId,),
        )
        yield Route(
            name="close_session",
            method="DELETE",
            path=one,
            view=self.close,
            is_global=True,
            status=204,
            refusals=unknown,
        )
        yield Route(
            name="stream_session",
            method="GET",
            path=f"{one}/events",
            view=self.stream,
            is_global=True,
            query=StreamQuery,
            refusals=(InvalidMaxQueued, SessionNotFound, SubscriberLimitExceeded),
        )

    def enter(self) -> Response:
        """Take part in a session; the answer says as which client."""
        body = parse_body(SessionBody, g.body)
        workspace = entered(principal_of(request), lambda: select_folder(self._workspaces, body.cwd))
        entry = self._sessions.enter(
            workspace.id, caller_of(request), is_shared=body.session_scope == "single"
        )
        return _shown(
            SessionEntry(
                session_id=entry.session,
                workspace_cwd=workspace.path,
                attached=entry.is_attached,
                client_id=entry.client,
                created_at=rfc3339(entry.created_ms),
            )
        )

    def keep(self, session_id: str) -> Response:
        """Keep a session alive."""
        caller = caller_of(request)
        session = self._require(session_id)
        at_ms = self._sessions.keep(session, caller)
        return _shown(Heartbeat(session_id=session, client_id=caller.client, last_seen_at=at_ms))

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
        max_lag = max_queued_in(request.args)
        session, (after, epoch) = self._require(session_id), cursor_of(request)
        source = self._streams.open(session, after=after, epoch=epoch, max_lag=max_lag)
        return streamed(self._relay, source, request)

    def _require(self, segment: str) -> ClientSessionId:
        """Read a path's segment as the id of a session that is served here, and to this caller."""
        session = unquote(segment)
        workspace = workspace_of_client_session(session)
        if workspace is None or self._workspaces.by_id(workspace) is None:
            raise SessionNotFound(session)
        if not principal_of(request).may_enter(workspace):
            raise SessionNotFound(session)
        return ClientSessionId(session)


def _shown(answer: BaseModel) -> Response:
    return json_response(answer.model_dump(mode="json", by_alias=True, exclude_none=True))


def _nothing() -> Response:
    response = Response(status=204)
    del response.headers["Content-Type"]
    return response
