"""Answers about client sessions."""

from web.answers.shown import Absent, Moment, Shown


class SessionEntry(Shown):
    """A client's part in a session.

    Attributes:
        workspace_cwd: folder of the session's workspace.
        attached: whether the session was there before.
        client_id: for the ``X-Qwen-Client-Id`` header from now on.
        created_at: when the session was made, RFC 3339 UTC with milliseconds.
    """

    session_id: str
    workspace_cwd: str
    attached: bool
    client_id: str
    created_at: Moment


class Heartbeat(Shown):
    """A session that is kept alive, and by whom.

    Attributes:
        client_id: as it was sent; absent if none was.
        last_seen_at: epoch milliseconds.
    """

    session_id: str
    client_id: str | Absent = None
    last_seen_at: int
