"""What a client session hears: the events of its workspace, until it is closed."""

import json
from contextlib import ExitStack, suppress

from core.clock import boot_ms
from core.errors import DependencyError
from core.ids import ClientSessionId, new_uuid, workspace_of_client_session
from events import kinds
from events.envelope import Envelope
from events.errors import SessionNotFound, SubscriberLimitExceeded, SubscriptionEnded
from events.hub import EventHub
from events.sessions import ClientSessions
from events.subscription import MAX_LAG, Subscription

KEEP_EVERY_MS = 10_000
KEPT_MS = 45_000  # a reader that waits looks after its place once a heartbeat, 15 s


class SessionStreams:
    """Opens streams of sessions, and keeps each session to as many as it may have."""

    def __init__(
        self, hub: EventHub, sessions: ClientSessions, *, keep_every_ms: int = KEEP_EVERY_MS
    ) -> None:
        """Make it.

        Args:
            keep_every_ms: how often a stream looks whether its session lives, and keeps its place there.
        """
        self._hub = hub
        self._sessions = sessions
        self._keep_every_ms = keep_every_ms

    def open(
        self, session: ClientSessionId, *, after: int | None, epoch: str | None, max_lag: int = MAX_LAG
    ) -> "SessionStream":
        """Subscribe to what a session of a configured workspace hears.

        Args:
            after, epoch, max_lag: as for ``EventHub.open``; 0 asks for all since the session was made.

        Raises:
            SessionNotFound: there is no such session (any more).
            SubscriberLimitExceeded: it has all the streams that it may have.
            StorageUnavailable, StorageFull: Redis can't serve. By none of these anything was opened.
        """
        workspace = workspace_of_client_session(session)
        if workspace is None:
            raise SessionNotFound(session)
        if after == 0:  # a new session is no reason to hear what happened before it
            after = self._sessions.began_after(session)
        subscription = self._hub.open(workspace, after=after, epoch=epoch, max_lag=max_lag)
        stream = SessionStream(subscription, self._sessions, session, keep_every_ms=self._keep_every_ms)
        with ExitStack() as undoing:
            undoing.callback(stream.close)
            stream.take_place()  # after the subscription began, which so can't miss the session's end
            undoing.pop_all()
        return stream


class SessionStream:
    """A subscription that ends with its session, and is told of no other session's end.

    Not for use by two threads at once.
    """

    def __init__(
        self,
        subscription: Subscription,
        sessions: ClientSessions,
        session: ClientSessionId,
        *,
        keep_every_ms: int,
    ) -> None:
        self._subscription = subscription
        self._sessions = sessions
        self._session = session
        self._name = new_uuid()
        self._keep_every_ms = keep_every_ms
        self._keep_at_ms = 0
        self._is_gone = False
        self._is_over = False

    @property
    def epoch(self) -> str:
        """Uuid of the log that the ids belong to."""
        return self._subscription.epoch

    @property
    def is_evicted(self) -> bool:
        """Whether the reader was sent away for being slow."""
        return self._subscription.is_evicted

    def interrupt(self) -> None:
        """Let ``next`` return soon, on behalf of another thread; the one method that it may call."""
        self._subscription.interrupt()

    def take_place(self) -> None:
        """Take a place among the session's streams, or keep it.

        Raises:
            SessionNotFound, SubscriberLimitExceeded: it has none (any more).
            StorageUnavailable: Redis gave no answer.
        """
        self._sessions.watch(self._session, self._name, kept_ms=KEPT_MS)
        self._keep_at_ms = boot_ms() + self._keep_every_ms

    def next(self, timeout_s: float) -> Envelope | None:
        """Give the next event, waiting at most ``timeout_s`` seconds; None when there was none to give.

        Raises:
            SubscriptionEnded: the session was closed or is gone, or the reader was sent away.
            StorageUnavailable: the log could not be read, or the place not be kept; call again.
        """
        if self._is_over:
            raise SubscriptionEnded("the session was closed")
        self._keep_place()
        envelope = self._next_of_ours(timeout_s)
        if envelope is None and self._is_gone:
            raise SubscriptionEnded("the session is gone")
        self._is_over = envelope is not None and envelope.type == kinds.SESSION_CLOSED
        return envelope

    def close(self) -> None:
        """Give the place up; may be repeated."""
        self._subscription.close()
        with suppress(DependencyError):  # then the place runs out by itself
            self._sessions.unwatch(self._session, self._name)

    def _next_of_ours(self, timeout_s: float) -> Envelope | None:
        end_ms = boot_ms() + int(timeout_s * 1000)
        while True:
            envelope = self._subscription.next(max(0, end_ms - boot_ms()) / 1000)
            if envelope is None or not self._is_anothers_end(envelope):
                return envelope

    def _is_anothers_end(self, envelope: Envelope) -> bool:
        if envelope.type != kinds.SESSION_CLOSED:
            return False
        return bool(json.loads(envelope.data_json)["sessionId"] != self._session)

    def _keep_place(self) -> None:
        if self._is_gone or boot_ms() < self._keep_at_ms:
            return
        try:
            self.take_place()
        except SessionNotFound:
            self._is_gone = True  # what the log says of that comes first
        except SubscriberLimitExceeded as error:
            raise SubscriptionEnded("the place was given away") from error
