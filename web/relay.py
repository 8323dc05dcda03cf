"""Event subscriptions as server-sent event streams."""

import select
import socket
import threading
from collections.abc import Iterator
from typing import Final, Protocol

from gevent import monkey
from werkzeug.wrappers import Request, Response

from core.ids import new_uuid
from core.logs import get_logger
from events.envelope import Envelope
from events.errors import StorageUnavailable, SubscriptionEnded
from events.hub import EventHub
from web.admission import AdmittedSource
from web.cursor import EPOCH_HEADER

HEARTBEAT_S = 15.0
STORAGE_PAUSE_S = 1.0
SEND_BUFFER_BYTES = 128 * 1024

EVENT_STREAM: Final = "text/event-stream"
STREAM_ID_HEADER: Final = "X-Qwen-SSE-Stream-Id"
STREAM_HEADERS: Final = (EPOCH_HEADER, STREAM_ID_HEADER, "X-Accel-Buffering")
CLIENT_SOCKET: Final = "gunicorn.socket"  # where a request's environ has it

_RETRY = b"retry: 3000\n\n"
_HEARTBEAT = b": heartbeat\n\n"
_log = get_logger(__name__)


class ClientSocket(Protocol):
    """What we need of a client's socket."""

    def fileno(self) -> int:
        """The socket's descriptor."""

    def setsockopt(self, level: int, name: int, value: int, /) -> None:
        """Set an option of the kernel's."""


class EventSource(Protocol):
    """What a stream tells: a subscription to a workspace, or what a session hears of one."""

    @property
    def epoch(self) -> str:
        """Uuid of the log that the ids belong to."""

    @property
    def is_evicted(self) -> bool:
        """Whether the reader was sent away for being slow."""

    def interrupt(self) -> None:
        """Let ``next`` return soon, on behalf of another thread."""

    def next(self, timeout_s: float) -> Envelope | None:
        """Give the next event, or None when there was none within ``timeout_s`` seconds."""

    def close(self) -> None:
        """Give the place up; may be repeated."""


class Relay:
    """Turns subscriptions into streams, and ends them all when the process stops."""

    def __init__(self, hub: EventHub, *, heartbeat_s: float = HEARTBEAT_S) -> None:
        """Make a relay.

        Args:
            heartbeat_s: longest silence on a stream, seconds; a reader that left is noticed within it.
        """
        self._hub = hub
        self._heartbeat_s = heartbeat_s
        self._ending = threading.Event()

    @property
    def is_ending(self) -> bool:
        """Whether this process stops."""
        return self._ending.is_set()

    def answer(self, request: Request, source: EventSource) -> Response:
        """Answer a request with a stream, which ends with its token; HEAD with its headers only."""
        admitted = AdmittedSource(source, request.environ)
        response = self.respond(admitted, request.environ.get(CLIENT_SOCKET))
        if request.method == "HEAD":  # a server would run through the stream to throw it away
            response.response = []
        return response

    def respond(self, source: EventSource, client: ClientSocket | None) -> Response:
        """Stream what a source tells and close it with the response.

        Args:
            client: the reader's socket, watched for its end; None when the server does not tell.
        """
        bound_backlog(client)
        headers = {
            "Cache-Control": "no-cache, no-transform",
            "X-Accel-Buffering": "no",
            EPOCH_HEADER: source.epoch,
            STREAM_ID_HEADER: new_uuid(),
        }
        frames = self._frames(source, client)
        response = Response(frames, headers=headers, content_type=EVENT_STREAM)
        # a generator that was never started runs no finally
        response.call_on_close(source.close)
        return response

    def end_all(self) -> None:
        """End every stream now and each later one at its start; readers come back with their cursor."""
        self._ending.set()
        self._hub.close()

    def follow(self, source: EventSource) -> Iterator[Envelope | None]:
        """Give the events of a source until it is over or this process stops; None after a silence."""
        while not self._ending.is_set():
            try:
                envelope = source.next(self._heartbeat_s)
            except SubscriptionEnded:
                return
            except StorageUnavailable as error:
                _log.warning("stream_waits_for_storage", reason=str(error))
                self._ending.wait(STORAGE_PAUSE_S)
                envelope = None
            if envelope is not None or not self._ending.is_set():
                yield envelope

    def _frames(self, source: EventSource, client: ClientSocket | None) -> Iterator[bytes]:
        yield _RETRY
        for envelope in self.follow(source):
            if envelope is not None:
                yield frame(envelope)
            elif has_left(client):
                return
            else:
                yield _HEARTBEAT


def bound_backlog(client: ClientSocket | None) -> None:
    """Bound what the kernel keeps for a reader that does not read; of itself that grows to 4 MiB a client."""
    if client is not None:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)


def frame(envelope: Envelope) -> bytes:
    """Render one event as a server-sent event (WHATWG HTML, 9.2)."""
    # a line break between JSON tokens would end the field; inside strings JSON has none
    line = envelope.to_json().replace("\r", " ").replace("\n", " ")
    number = "" if envelope.id is None else f"id: {envelope.id}\n"
    return f"{number}event: {envelope.type}\ndata: {line}\n\n".encode()


def has_left(client: ClientSocket | None) -> bool:
    """Whether the peer has closed its side; False when there is no socket to ask."""
    if client is None:
        return False
    # gevent's poll knows no RDHUP; a zero time-out can't block, so the original is safe. The first write
    # after a reader left still succeeds: waiting for writes to fail would take two heartbeats.
    poller = monkey.get_original("select", "poll")()
    poller.register(client.fileno(), select.POLLRDHUP)
    return bool(poller.poll(0))
