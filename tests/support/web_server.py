"""Starts a web process for a test and talks to it, byte for byte where that matters."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from memlane.listening import bind, port_of
from tests.support.description import description, event_description

ROOT = Path(__file__).parents[2]
TOKEN = "T"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
TIMEOUT_S = 20


@dataclass(frozen=True)
class Answer:
    """A response, read to its end."""

    status: int
    headers: Mapping[str, str]
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)


class Requests(Protocol):
    """Sends requests, by whatever way."""

    def request(
        self, method: str, path: str, *, headers: Mapping[str, str] = AUTHORIZED, body: bytes | None = None
    ) -> Answer:
        """Send one request."""

    def post(self, path: str, body: Any, *, headers: Mapping[str, str] = {}) -> Answer:
        """Post JSON with the token."""
        sent = {**AUTHORIZED, "Content-Type": "application/json", **headers}
        return self.request("POST", path, headers=sent, body=json.dumps(body).encode())

    def get(self, path: str, *, headers: Mapping[str, str] = {}) -> Answer:
        """Get with the token."""
        return self.request("GET", path, headers={**AUTHORIZED, **headers})


@dataclass(frozen=True)
class WebServer(Requests):
    """A running web process; ``memory`` is its memory base."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path
    memory: Path

    def request(
        self, method: str, path: str, *, headers: Mapping[str, str] = AUTHORIZED, body: bytes | None = None
    ) -> Answer:
        """Send one request on a connection of its own; ``path`` goes out as it is.

        What comes back has to be what the OpenAPI document foresees.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            length = {} if body is None or "Content-Length" in headers else {"Content-Length": str(len(body))}
            for name, value in {**headers, **length}.items():
                connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            answer = Answer(
                response.status,
                {name.lower(): value for name, value in response.getheaders()},
                response.read(),
            )
        finally:
            connection.close()
        description().check(method, path, status=answer.status, headers=answer.headers, raw=answer.raw)
        return answer

    def exchange(self, sent: bytes) -> bytes:
        """Send bytes and read until the server closes."""
        with self.connect() as peer:
            peer.sendall(sent)
            received = b""
            while chunk := peer.recv(65_536):
                received += chunk
            return received

    def connect(self) -> socket.socket:
        """Open a connection that never waits for ever."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str] = {}) -> Iterator["EventStream"]:
        """Open an event stream."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            connection.request("GET", path, headers={**AUTHORIZED, **headers})
            yield EventStream(connection.getresponse())
        finally:
            connection.close()

    def stop(self) -> int:
        """Ask the process to stop and wait for its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(TIMEOUT_S)


class EventStream:
    """An open event stream, read block by block."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self._response = response

    def block(self) -> str:
        """The next block, without its blank line; empty at the end of the stream."""
        lines = []
        while line := self._response.readline().decode():
            if line == "\n":
                break
            lines.append(line.rstrip("\n"))
        return "\n".join(lines)

    def event(self) -> dict[str, str]:
        """The fields of the next event; comments are skipped."""
        while (block := self.block()).startswith(":"):
            pass
        return dict(line.split(": ", 1) for line in block.splitlines())

    def payload(self) -> dict[str, Any]:
        """The next event's envelope, which has to be what the AsyncAPI document foresees."""
        envelope: dict[str, Any] = json.loads(self.event()["data"])
        event_description().check_event(envelope)
        return envelope


@contextmanager
def running_web(
    redis_url: str,
    workspaces: list[Path],
    *,
    folder: Path,
    heartbeat_s: float = 15.0,
    ping_s: float = 25.0,
) -> Iterator[WebServer]:
    """Run a web process for the body; it is gone afterwards."""
    listener = bind("127.0.0.1", 0)
    log, memory = folder / "web.log", folder / "memory"
    memory.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "tests.support.web_process", str(listener.fileno()), redis_url]
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [*command, str(memory), str(heartbeat_s), str(ping_s), *map(str, workspaces)],
            cwd=ROOT,
            stderr=stderr,
            pass_fds=[listener.fileno()],
            env={**os.environ, "PYTHONWARNINGS": "default"},
        )
    server = WebServer(port_of(listener), process, log, memory)
    listener.close()
    try:
        yield server
    finally:
        if process.poll() is None:
            server.stop()
