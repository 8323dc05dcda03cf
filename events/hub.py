"""One Redis subscription per process, shared by all its readers."""

from collections.abc import Callable, Iterable

from core.errors import DependencyError
from core.ids import WorkspaceId
from core.keys import LaneKeys
from events import kinds
from events.connect import connect
from events.envelope import aside_in
from events.feed import Feed
from events.listener import Listener
from events.log import EventLog
from events.subscription import MAX_LAG, Subscription


def open_hub(redis_url: str, workspaces: Iterable[WorkspaceId]) -> "EventHub":
    """Start following the logs of these workspaces.

    Works while Redis is away, too: readers then wait, and catch up from the log when it is back.
    """
    return EventHub(redis_url, workspaces)


class EventHub:
    """Follows the event logs and lets readers subscribe."""

    def __init__(self, redis_url: str, workspaces: Iterable[WorkspaceId]) -> None:
        self._closed = False
        self._event_log = EventLog(connect(redis_url))
        self._feeds = {workspace: Feed() for workspace in workspaces}
        channels = {LaneKeys(workspace).channel: self._advancer(workspace) for workspace in self._feeds}
        channels |= {LaneKeys(workspace).asides: self._noter(workspace) for workspace in self._feeds}
        self._listener = Listener(redis_url, channels, on_gap=self._catch_up, name="event-hub")

    def open(
        self, workspace: WorkspaceId, *, after: int | None, epoch: str | None, max_lag: int = MAX_LAG
    ) -> Subscription:
        """Subscribe to a configured workspace.

        Args:
            after: id of the last event the reader has; None for live events only.
            epoch: the log's epoch as the reader remembers it, if it does.
            max_lag: events that it may be behind before it is sent away, one of ``LAG_LIMITS``.

        Raises:
            StorageUnavailable, StorageFull: Redis can't serve; nothing was opened.
        """
        feed = self._feeds[workspace]
        seat = feed.join()
        try:
            state = self._event_log.state(workspace)
        except DependencyError:
            feed.leave(seat)
            raise
        if feed.align(state):
            self._advance(workspace)  # what came between the two had no reader to keep it
        subscription = Subscription(self._event_log, seat, workspace, state=state, max_lag=max_lag)
        if after is not None:
            subscription.replay(after, epoch=epoch, state=state)
        return subscription

    def close(self) -> None:
        """Stop following; readers get no further events. May be repeated."""
        self._closed = True
        for feed in self._feeds.values():
            feed.close()
        self._listener.close()

    @property
    def is_closed(self) -> bool:
        """Whether readers get no further events."""
        return self._closed

    def _advancer(self, workspace: WorkspaceId) -> Callable[[str], None]:
        return lambda _newest: self._advance(workspace)

    def _noter(self, workspace: WorkspaceId) -> Callable[[str], None]:
        def note(message: str) -> None:
            aside = aside_in(kinds.TASK_PROGRESS, message)
            if aside is not None:
                self._feeds[workspace].note(aside)

        return note

    def _catch_up(self) -> None:
        for workspace, feed in self._feeds.items():
            if feed.has_readers:
                feed.align(self._event_log.state(workspace))
                self._advance(workspace)

    def _advance(self, workspace: WorkspaceId) -> None:
        feed = self._feeds[workspace]
        while feed.is_aligned:
            page = self._event_log.read(workspace, after=feed.last_id)
            feed.extend(page)
            if not page:
                return
