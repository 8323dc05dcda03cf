"""A service that is called back: a real HTTP server that remembers what it was sent."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Callback:
    """What came, and how the next requests are answered: a status, ``reset``, or nothing for 200."""

    url: str = ""
    faults: list[int | str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    arrived: threading.Event = field(default_factory=threading.Event)

    @property
    def messages(self):
        return [json.loads(body) for body in self.bodies]


@contextmanager
def running_callback() -> Iterator[Callback]:
    """Run a server for the body."""
    callback = Callback()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            callback.bodies.append(body)
            callback.headers.append(dict(self.headers))
            fault = callback.faults.pop(0) if callback.faults else 200
            if fault == "reset":
                self.connection.close()
                return
            self.send_response(int(fault))
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()
            callback.arrived.set()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    callback.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    try:
        yield callback
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
