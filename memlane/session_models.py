"""What the service answers about sessions, typed."""

from datetime import UTC, datetime

from memlane.models import Answer, Moment


class SessionEntry(Answer):
    """A client's part in a session.

    Attributes:
        workspace_cwd: the session's workspace, on the service's machine.
        attached: whether the session was there before.
        client_id: as whom the client takes part.
        created_at: when the session was made.
    """

    session_id: str
    client_id: str
    workspace_cwd: str
    attached: bool = False
    created_at: Moment | None = None


class Heartbeat(Answer):
    """A session that was kept alive.

    Attributes:
        last_seen_at: epoch milliseconds of the service.
    """

    session_id: str
    client_id: str | None = None
    last_seen_at: int

    @property
    def at(self) -> datetime:
        """When that was, in UTC."""
        return datetime.fromtimestamp(self.last_seen_at / 1000, UTC)
