"""One Redis subscription per process, shared by all its readers."""

import threading
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from core import keys
from core.ids import WorkspaceId, new_uuid
from core.logs import get_logger
from events.connect import connect, storage_errors
from events.errors import StorageUnavailable
from events.feed import Feed
from events.log import EventLog
from events.subscription import Subscription

if TYPE_CHECKING:
    import redis

IDLE_CHECK_S = 15.0
RECONNECT_S = 0.5

_log = get_logger(__name__)


def open_hub(redis_url: str, workspaces: Iterable[WorkspaceId]) -> "EventHub":
    """Start following the logs of these workspaces.

    Works while Redis is away, too: readers then wait, and catch up from the log when it is back.
    """
    # the subscription's socket waits for bells; its time-out is the idle check plus slack
    bells = connect(redis_url, timeout_s=IDLE_CHECK_S + 5, retries=0)
    return EventHub(connect(redis_url), bells, workspaces)


class EventHub:
    """Follows the event logs and lets readers subscribe."""

    def __init__(
        self, client: "redis.Redis", bells: "redis.Redis", workspaces: Iterable[WorkspaceId]
    ) -> None:
        self._redis = client
        self._event_log = EventLog(client)
        self._bells = bells
        self._feeds = {workspace: Feed() for workspace in workspaces}
        self._by_channel = {keys.LaneKeys(workspace).channel: workspace for workspace in self._feeds}
        self._wake_channel = keys.private_channel(new_uuid())
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="event-hub", daemon=True)
        self._thread.start()

    def open(self, workspace: WorkspaceId, *, after: int | None, epoch: str | None) -> Subscription:
        """Subscribe to a configured workspace.

        Args:
            after: id of the last event the reader has; None for live events only.
            epoch: the log's epoch as the reader remembers it, if it does.

        Raises:
            StorageUnavailable: Redis gave no answer; nothing was opened.
        """
        feed = self._feeds[workspace]
        feed.join()
        try:
            state = self._event_log.state(workspace)
        except StorageUnavailable:
            feed.leave()
            raise
        if feed.align(state):
            self._advance(workspace)  # what came between the two had no reader to keep it
        subscription = Subscription(self._event_log, feed, workspace, state=state)
        if after is not None:
            subscription.replay(after, epoch=epoch, state=state)
        return subscription

    def close(self) -> None:
        """Stop following; readers get no further events. May be repeated."""
        self._closing.set()
        for feed in self._feeds.values():
            feed.close()
        with suppress(StorageUnavailable), storage_errors():
            self._redis.publish(self._wake_channel, "")
        self._thread.join(RECONNECT_S)

    def _follow(self) -> None:
        while not self._closing.is_set():
            try:
                self._listen()
            except StorageUnavailable as error:
                if not self._closing.wait(RECONNECT_S):
                    _log.warning("event_hub_disconnected", reason=str(error))

    def _listen(self) -> None:
        with storage_errors(), self._bells.pubsub() as pubsub:  # type: ignore[no-untyped-call]  # redis-py
            pubsub.subscribe(self._wake_channel, *self._by_channel)
            while not self._closing.is_set():
                bell = pubsub.get_message(timeout=IDLE_CHECK_S)
                if bell is None or bell["type"] == "subscribe":
                    # a bell may have been missed: before we subscribed, or on a connection that was half dead
                    self._catch_up()
                elif bell["channel"] in self._by_channel:
                    self._advance(self._by_channel[bell["channel"]])

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
