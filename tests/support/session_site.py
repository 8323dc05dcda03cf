"""The client sessions of one workspace, on the shared Redis."""

from dataclasses import dataclass, field
from typing import Any

from core.ids import ClientId, ClientSessionId, WorkspaceId
from core.keys import LaneKeys
from events.envelope import Envelope
from events.log import EventLog
from events.sessions import Caller, ClientSessions, SessionEntry
from tests.support.lane import fresh_workspace_id

SESSION_LIFE_MS = 30 * 60_000
KEPT_MS = 45_000
SOMEBODY = Caller("ada")


@dataclass
class Site:
    """The sessions of one workspace, and what Redis holds of them."""

    redis: Any  # redis-py can't say that this client answers text
    workspace: WorkspaceId = field(default_factory=fresh_workspace_id)

    @property
    def sessions(self) -> ClientSessions:
        return ClientSessions(self.redis)

    @property
    def keys(self) -> LaneKeys:
        return LaneKeys(self.workspace)

    def enter(self, caller: Caller = SOMEBODY, *, is_shared: bool = True) -> SessionEntry:
        return self.sessions.enter(self.workspace, caller, is_shared=is_shared)

    def owns(self, client: str, *, owner: str = "ada", workspace: WorkspaceId | None = None) -> bool:
        return self.sessions.owns(workspace or self.workspace, Caller(owner, ClientId(client)))

    def watch(self, session: ClientSessionId, stream: str) -> None:
        self.sessions.watch(session, stream, kept_ms=KEPT_MS)

    def events(self) -> list[Envelope]:
        return EventLog(self.redis).read(self.workspace, after=0)

    def all_there_is(self) -> dict[str, Any]:
        """Every key of the workspace and its bytes, whatever their time."""
        return {
            name: self.redis.dump(name) for name in self.redis.scan_iter(f"{self.keys.base}*", count=1000)
        }

    def age(self, session: ClientSessionId) -> None:
        """Let a session and what belongs to it be close to their ends."""
        keys = self.keys
        names = (keys.session(session), keys.session_clients(session), keys.session_streams(session))
        for name in (*names, keys.single_session):
            self.redis.pexpire(name, 60_000)

    def lives(self, name: str, at_least_ms: int) -> bool:
        left_ms = int(self.redis.pttl(name))
        return at_least_ms - 60_000 < left_ms <= at_least_ms
