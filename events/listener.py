"""One thread that hears pub/sub channels, and says when it may have missed something."""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

from core import keys
from core.errors import DependencyError
from core.ids import new_uuid
from core.logs import get_logger
from events.connect import connect, storage_errors

IDLE_CHECK_S = 15.0
RECONNECT_S = 0.5

_log = get_logger(__name__)


class Listener:
    """Hears channels for as long as it lives, across outages of Redis.

    Pub/sub keeps nothing: whatever was said while the connection was down is lost. So ``on_gap`` is called
    after every subscription, and every 15 s of silence, for the owner to look at the facts themselves.
    """

    def __init__(
        self,
        redis_url: str,
        channels: Mapping[str, Callable[[str], None]],
        *,
        on_gap: Callable[[], None],
        name: str,
    ) -> None:
        """Start the thread. The callbacks run on it and get the message; they must not block for long."""
        # its socket waits for messages: the time-out is the idle check plus slack
        self._subscriber = connect(redis_url, timeout_s=IDLE_CHECK_S + 5, retries=0)
        self._publisher = connect(redis_url, retries=0)
        self._channels = channels
        self._on_gap = on_gap
        self._wake_channel = keys.private_channel(new_uuid())
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._listen_on, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening. May be repeated."""
        self._closing.set()
        with suppress(DependencyError), storage_errors():
            self._publisher.publish(self._wake_channel, "")
        self._thread.join(RECONNECT_S)

    def _listen_on(self) -> None:
        while not self._closing.is_set():
            try:
                self._listen()
            except DependencyError as error:
                if not self._closing.wait(RECONNECT_S):
                    _log.warning("listener_disconnected", reason=str(error))

    def _listen(self) -> None:
        with storage_errors(), self._subscriber.pubsub() as pubsub:
            pubsub.subscribe(self._wake_channel, *self._channels)
            while not self._closing.is_set():
                message = pubsub.get_message(timeout=IDLE_CHECK_S)
                if message is None or message["type"] == "subscribe":
                    self._on_gap()
                elif message["channel"] in self._channels:
                    self._channels[message["channel"]](message["data"])
