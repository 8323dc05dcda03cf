"""Clients of event streams, as many as told, in one process: `python -m bench.crowd PORT KIND COUNT FOLDER`.

Makes the file ``open`` in FOLDER when every client has been let in, and at SIGTERM writes ``arrivals.json``:
for each event, when it came to each client, in nanoseconds of the stopwatch. With ``--stuck`` clients ask
for all that the log has, and read nothing of it.
"""

import argparse
import json
import re
import resource
import selectors
import signal
import socket
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.stopwatch import now_ns

TOKEN = "T"  # noqa: S105 - of a service that lives for a minute
PATHS = {"stream": "/workspace/events", "socket": "/workspace/events/ws"}
CONNECT_LIMIT_S = 60.0
STUCK_BUFFER_BYTES = 4096
LOOK_S = 0.2
TAIL_BYTES = 48  # as much as the start of an envelope needs, which may come in two parts

_ID = re.compile(rb'\{"id":([0-9]+),"v":1')
_UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)
_PING = b"\x89\x00"  # no byte of JSON in ASCII looks like it
_PONG = b"\x8a\x80\x00\x00\x00\x00"


@dataclass(slots=True)
class _Client:
    wire: socket.socket
    tail: bytes = b""
    is_in: bool = False


class Crowd:
    """The clients and what came to them."""

    def __init__(self, port: int, kind: str, *, stuck: bool) -> None:
        self._address = ("127.0.0.1", port)
        self._kind = kind
        self._stuck = stuck
        self._selector = selectors.DefaultSelector()
        self._arrivals: dict[int, list[int]] = defaultdict(list)
        self._is_over = False

    def open(self, count: int) -> None:
        """Connect all, and return when each has the start of an answer."""
        clients = [self._connect() for _ in range(count)]
        while not all(client.is_in for client in clients):
            self._take(CONNECT_LIMIT_S)
        if self._stuck:
            for client in clients:
                self._selector.unregister(client.wire)

    def read_on(self) -> None:
        """Note arrivals until told to end."""
        while not self._is_over:
            self._take(LOOK_S)

    def end(self, *_: object) -> None:
        """Tell it to end; a signal's handler."""
        self._is_over = True

    def arrivals(self) -> str:
        """What came, as JSON."""
        return json.dumps(self._arrivals)

    def _connect(self) -> _Client:
        wire = socket.socket()
        if self._stuck:
            wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, STUCK_BUFFER_BYTES)
        wire.settimeout(CONNECT_LIMIT_S)
        wire.connect(self._address)
        cursor = "Last-Event-ID: 0\r\n" if self._stuck else ""
        upgrade = _UPGRADE if self._kind == "socket" else ""
        lines = (
            f"Host: 127.0.0.1:{self._address[1]}\r\nAuthorization: Bearer {TOKEN}\r\n{upgrade}{cursor}\r\n"
        )
        wire.sendall(f"GET {PATHS[self._kind]} HTTP/1.1\r\n{lines}".encode())
        client = _Client(wire)
        self._selector.register(wire, selectors.EVENT_READ, client)
        return client

    def _take(self, timeout_s: float) -> None:
        for key, _ in self._selector.select(timeout_s):
            client: _Client = key.data
            received = client.wire.recv(STUCK_BUFFER_BYTES if self._stuck else 65_536)
            arrived_ns = now_ns()
            if not received:
                raise ConnectionError("a client was cut off")
            client.is_in = True
            if self._kind == "socket" and _PING in received:
                client.wire.sendall(_PONG)
            self._note(client, received, arrived_ns)

    def _note(self, client: _Client, received: bytes, arrived_ns: int) -> None:
        text, end = client.tail + received, 0
        for found in _ID.finditer(text):
            self._arrivals[int(found[1])].append(arrived_ns)
            end = found.end()
        client.tail = text[max(end, len(text) - TAIL_BYTES) :]


def main(arguments: Sequence[str]) -> None:
    """Open the clients, wait for SIGTERM, write what came."""
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("kind", choices=sorted(PATHS))
    parser.add_argument("count", type=int)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--stuck", action="store_true")
    options = parser.parse_args(arguments)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    crowd = Crowd(options.port, options.kind, stuck=options.stuck)
    signal.signal(signal.SIGTERM, crowd.end)
    crowd.open(options.count)
    (options.folder / "open").touch()
    crowd.read_on()
    draft = options.folder / "draft"
    draft.write_text(crowd.arrivals())
    draft.rename(options.folder / "arrivals.json")


if __name__ == "__main__":
    main(sys.argv[1:])
