"""A WebSocket client that shows what went over the wire, and can misbehave."""

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, Event, Ping, Pong, TextMessage

from tests.support.web_server import AUTHORIZED, WebServer

KEY = "dGhlIHNhbXBsZSBub25jZQ=="  # RFC 6455, 1.3, as its answer
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": KEY,
}


class SocketClient:
    """One end of an open WebSocket; ``headers`` are those of the handshake's answer."""

    def __init__(self, peer: socket.socket, headers: Mapping[str, str], rest: bytes) -> None:
        self.headers = headers
        self.peer = peer
        self._connection = Connection(ConnectionType.CLIENT, trailing_data=rest)
        self._events: list[Event] = list(self._connection.events())

    def event(self) -> Event:
        """The next whole thing that the server says: a message, a ping, a pong or the close."""
        text = ""
        while True:
            event = self._next()
            if not isinstance(event, TextMessage):
                return event
            text += event.data
            if event.message_finished:
                return TextMessage(text)

    def payload(self) -> dict[str, Any]:
        """The next message's envelope; pings are answered, pongs skipped."""
        while isinstance(event := self.event(), Ping | Pong):
            if isinstance(event, Ping):
                self.send(event.response())
        assert isinstance(event, TextMessage), event
        envelope: dict[str, Any] = json.loads(event.data)
        return envelope

    def close_code(self) -> int:
        """The code with which the server closes; what it says before that is skipped."""
        while not isinstance(event := self.event(), CloseConnection):
            pass
        return event.code

    def send(self, event: Event) -> None:
        """Say something as the protocol has it."""
        self.peer.sendall(self._connection.send(event))

    def is_cut(self) -> bool:
        """Whether nothing comes any more; waits for it."""
        return self.peer.recv(1) == b""

    def _next(self) -> Event:
        while not self._events:
            received = self.peer.recv(65_536)
            assert received, "the connection ended without a close"
            self._connection.receive_data(received)
            self._events = list(self._connection.events())
        return self._events.pop(0)


@contextmanager
def open_socket(web: WebServer, path: str, headers: Mapping[str, str] = AUTHORIZED) -> Iterator[SocketClient]:
    """Open a WebSocket for the body; ends the connection without a close."""
    sent = {"Host": f"localhost:{web.port}", **UPGRADE, **headers}
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in sent.items()), "", ""]
    with web.connect() as peer:
        peer.sendall("\r\n".join(lines).encode())
        received = b""
        while b"\r\n\r\n" not in received:
            received += peer.recv(4096)
        head, _, rest = received.partition(b"\r\n\r\n")
        status, *fields = head.decode().split("\r\n")
        assert status.startswith("HTTP/1.1 101 "), received
        named = (field.split(": ", 1) for field in fields)
        yield SocketClient(peer, {name.lower(): value for name, value in named}, rest)
