"""A proxy in front of a Redis server that loses replies, cuts connections, or swallows all packets."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from redis.connection import parse_url

MAX_ASKED_BYTES = 65_536
CHUNK_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Cut:
    """A reply that is to be lost: the first one to such a request that holds such bytes."""

    request: bytes
    reply: bytes
    happened: threading.Event = field(default_factory=threading.Event)

    def matches(self, asked: bytes, reply: bytes) -> bool:
        return self.request in asked and self.reply in reply


class RedisProxy:
    """Listens on a loopback port for as long as it is open."""

    def __init__(self, redis_url: str) -> None:
        """Stand in front of the server with this URL; it need not run."""
        self._target: Any = parse_url(redis_url)  # redis-py can't say which keys there are
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._links: set[_Link] = set()
        self._lock = threading.Lock()
        self._cuts: list[Cut] = []
        self.flowing = threading.Event()
        self.flowing.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, database: int) -> str:
        """URL of a database through the proxy."""
        password = self._target.get("password")
        secret = f":{password}@" if password else ""
        return f"redis://{secret}127.0.0.1:{self._listener.getsockname()[1]}/{database}"

    def lose_reply(self, request: str, reply: str = "") -> Cut:
        """Have the server do what it is asked once more, and its answer get lost with the connection."""
        cut = Cut(request.encode(), reply.encode())
        with self._lock:
            self._cuts.append(cut)
        return cut

    def swallow(self) -> None:
        """Let no packet through any more, in either direction; nobody is told."""
        self.flowing.clear()

    def heal(self) -> None:
        """Let everything through again; what was held back arrives late."""
        self.flowing.set()

    def cut_all(self) -> None:
        """Break all connections."""
        with self._lock:
            links = list(self._links)
        for link in links:
            link.close()

    def close(self) -> None:
        """End everything."""
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread that waits for connections
        self._listener.close()
        self.heal()
        self.cut_all()

    def connect(self) -> socket.socket:
        """Open a connection to the server itself."""
        path = self._target.get("path")
        if path is None:
            return socket.create_connection((self._target["host"], self._target["port"]))
        server = socket.socket(socket.AF_UNIX)
        server.connect(path)
        return server

    def take_cut(self, asked: bytes, reply: bytes) -> bool:
        """Whether this reply is to be lost."""
        with self._lock:
            cut = next((cut for cut in self._cuts if cut.matches(asked, reply)), None)
            if cut is None:
                return False
            self._cuts.remove(cut)
        cut.happened.set()
        return True

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            link = _Link(self, client)
            with self._lock:
                self._links.add(link)
            threading.Thread(target=self._serve, args=(link,), daemon=True).start()

    def _serve(self, link: "_Link") -> None:
        try:
            link.run()
        finally:
            with self._lock:
                self._links.discard(link)


class _Link:
    def __init__(self, proxy: RedisProxy, client: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server: socket.socket | None = None
        self._asked = b""

    def run(self) -> None:
        self._proxy.flowing.wait()
        with suppress(OSError), self._client, self._proxy.connect() as self._server:
            replies = threading.Thread(target=self._pass_replies, args=(self._server,), daemon=True)
            replies.start()
            self._pass_requests(self._server)
            replies.join()

    def close(self) -> None:
        for end in (self._client, self._server):
            if end is not None:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def _pass_requests(self, server: socket.socket) -> None:
        with suppress(OSError):
            while chunk := self._client.recv(CHUNK_BYTES):
                self._proxy.flowing.wait()
                self._asked = (self._asked + chunk)[-MAX_ASKED_BYTES:]
                server.sendall(chunk)
        self.close()

    def _pass_replies(self, server: socket.socket) -> None:
        with suppress(OSError):
            while chunk := server.recv(CHUNK_BYTES):
                self._proxy.flowing.wait()
                if self._proxy.take_cut(self._asked, chunk):
                    break
                self._asked = b""
                self._client.sendall(chunk)
        self.close()


@contextmanager
def redis_proxy(redis_url: str) -> Iterator[RedisProxy]:
    """Run a proxy for the body."""
    proxy = RedisProxy(redis_url)
    try:
        yield proxy
    finally:
        proxy.close()
