"""Client sessions: who takes part in the events of a workspace, and who may call itself what.

A session is no conversation: it is what clients of the contract open before they listen, and it gives them
their client ids. Both lie in Redis, so that every instance serves them and a restart loses none.
"""

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from core.ids import (
    ClientId,
    ClientSessionId,
    WorkspaceId,
    new_client_id,
    new_client_session_id,
    new_uuid,
    workspace_of_client_session,
)
from core.keys import LaneKeys
from events.connect import connect, storage_errors
from events.errors import InvalidClientId, SessionNotFound, SubscriberLimitExceeded
from events.scripts import Scripts, assembled, lua

if TYPE_CHECKING:
    import redis

CLIENT_LIFE_MS = 86_400_000  # of a registration, after its last use; session.lua has it, too
MAX_STREAMS = 64  # of one session, over all instances
SCRIPTS = ("enter", "heartbeat", "detach", "close", "watch")


def open_sessions(redis_url: str) -> "ClientSessions":
    """Make a client; connects when first used.

    Raises:
        ConfigError: the URL is none.
    """
    return ClientSessions(connect(redis_url))


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks for something in a session.

    Attributes:
        owner: name of the token that is used; a client id belongs to the one it was given to.
        client: as which client; None for one that does not say.
    """

    owner: str
    client: ClientId | None = None


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A client's part in a session.

    Attributes:
        is_attached: whether the session was there before.
        created_ms: when the session was made, epoch milliseconds.
    """

    session: ClientSessionId
    client: ClientId
    is_attached: bool
    created_ms: int


class ClientSessions:
    """The sessions and registered clients of all workspaces. Safe for use by many threads.

    A session lives 30 minutes after its last use: an entry, a heartbeat, or a stream that is open.
    """

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client
        self._scripts = Scripts(client, {name: source(name) for name in SCRIPTS})

    def enter(self, workspace: WorkspaceId, caller: Caller, *, is_shared: bool) -> SessionEntry:
        """Take part in a session of a workspace, and get a client id for that.

        Args:
            caller: keeps its client id if that is registered there, and gets a fresh one if not.
            is_shared: take the session that all share, which is made if it is not there; else a new one.

        Raises:
            StorageUnavailable, StorageFull: Redis can't serve; with the first it may have been made.
        """
        keys = LaneKeys(workspace)
        fresh = (new_client_session_id(workspace), "1" if is_shared else "0")
        args = (keys.base, *fresh, caller.client or "", new_client_id(), caller.owner)
        session, was_there, client, created_ms = self._scripts.call(
            "enter", [keys.single_session, keys.lane], args
        )
        return SessionEntry(ClientSessionId(session), ClientId(client), was_there == "1", int(created_ms))

    def owns(self, workspace: WorkspaceId, caller: Caller) -> bool:
        """Whether the caller's client id is registered for a workspace and its own; keeps it for 24 h more.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors():
            owner = self._redis.getex(LaneKeys(workspace).client(caller.client or ""), px=CLIENT_LIFE_MS)
        return owner == caller.owner

    def keep(self, session: ClientSessionId, caller: Caller) -> int:
        """Keep a session alive, and its caller's part in it.

        Returns:
            When that was, epoch milliseconds of Redis.

        Raises:
            SessionNotFound: there is no such session (any more).
            InvalidClientId: the caller's client takes no part in it. By both nothing was changed.
            StorageUnavailable: Redis gave no answer; repeat.
        """
        answer, *at_ms = self._scripts.call("heartbeat", _keys(session, caller), _args(session, caller))
        _require(answer, session, caller)
        return int(at_ms[0])

    def began_after(self, session: ClientSessionId) -> int:
        """Id of the workspace's newest event when a session was made; 0 if there is no such session.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors():
            newest = self._redis.hget(LaneKeys(_workspace(session)).session(session), "beganAfter")
        return int(newest or 0)

    def leave(self, session: ClientSessionId, caller: Caller) -> None:
        """End the caller's part in a session; does nothing if it has none. Its client id stays registered.

        Raises:
            StorageUnavailable: Redis gave no answer; repeat.
        """
        if caller.client is not None:
            self._scripts.call("detach", _keys(session, caller), _args(session, caller))

    def close(self, session: ClientSessionId, caller: Caller) -> None:
        """End a session: its streams end with ``session_closed``, wherever they are.

        Raises:
            SessionNotFound: there is no such session (any more).
            InvalidClientId: the caller's client takes no part in it. By both nothing was changed.
            StorageUnavailable: no answer; it may or may not be closed.
        """
        lane = LaneKeys(_workspace(session))
        keys = [*_keys(session, caller), lane.lane, lane.events]
        args = [*_args(session, caller), lane.channel, new_uuid()]
        (answer,) = self._scripts.call("close", keys, args)
        _require(answer, session, caller)

    def watch(self, session: ClientSessionId, stream: str, *, kept_ms: int) -> None:
        """Take one of the session's places for a stream, or keep it; the session lives on meanwhile.

        Args:
            stream: id of the stream.
            kept_ms: lifetime of the place unless it is kept again, milliseconds.

        Raises:
            SessionNotFound: there is no such session (any more).
            SubscriberLimitExceeded: all places are taken.
            StorageUnavailable: Redis gave no answer; repeat.
        """
        (answer,) = self._scripts.call(
            "watch", _session_keys(session), [session, stream, kept_ms, MAX_STREAMS]
        )
        if answer == "full":
            raise SubscriberLimitExceeded(MAX_STREAMS)
        if answer == "gone":
            raise SessionNotFound(session)

    def unwatch(self, session: ClientSessionId, stream: str) -> None:
        """Give a stream's place up.

        Raises:
            StorageUnavailable: Redis gave no answer; the place runs out by itself.
        """
        with storage_errors():
            self._redis.zrem(LaneKeys(_workspace(session)).session_streams(session), stream)


@cache
def source(name: str) -> str:
    """Full source of a script as it is sent to Redis."""
    return assembled(lua("events", name), [lua("events", "session")])


def _workspace(session: ClientSessionId) -> WorkspaceId:
    workspace = workspace_of_client_session(session)
    if workspace is None:
        raise SessionNotFound(session)
    return workspace


def _session_keys(session: ClientSessionId) -> list[str]:
    keys = LaneKeys(_workspace(session))
    streams = keys.session_streams(session)
    return [keys.session(session), keys.session_clients(session), streams, keys.single_session]


def _keys(session: ClientSessionId, caller: Caller) -> list[str]:
    return [*_session_keys(session), LaneKeys(_workspace(session)).client(caller.client or "")]


def _args(session: ClientSessionId, caller: Caller) -> list[str]:
    return [session, caller.client or "", caller.owner]


def _require(answer: str, session: ClientSessionId, caller: Caller) -> None:
    if answer == "gone":
        raise SessionNotFound(session)
    if answer == "stranger":
        raise InvalidClientId(
            f'Client id "{caller.client}" is not registered for session {session}',
            client_id=caller.client,
            session_id=session,
        )
