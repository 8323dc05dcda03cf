"""A loopback HTTP server that answers an SDK as it is told."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer; ``body`` of bytes is sent as it is, None closes the connection without one."""

    status: int = 200
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class ScriptedService:
    """The running server; the last reply repeats."""

    url: str
    requests: list[Seen]


@contextmanager
def scripted_service(replies: Sequence[Reply]) -> Iterator[ScriptedService]:
    """Serve the replies in order."""
    requests: list[Seen] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            requests.append(Seen(self.command, self.path, dict(self.headers), self.rfile.read(size)))
            reply = replies[min(len(requests), len(replies)) - 1]
            if reply.body is None:
                return
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_DELETE = do_GET  # noqa: N815 - http.server's names

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield ScriptedService(f"http://127.0.0.1:{server.server_address[1]}", requests)
        finally:
            server.shutdown()
            thread.join()
