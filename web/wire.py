"""A client's socket as simple-websocket may use it."""

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress

import gevent

SEND_LIMIT_S = 25.0  # as long as the time between two pings
CLOSE_LIMIT_S = 1.0

_HEAD_END = b"\r\n\r\n"


class Wire:
    """Lets two threads send whole frames in turn, and tells the talking one when the listening one ended.

    The library calls ``send`` once a frame and from both of its threads, while a socket's own ``send`` may
    take less than it was given. It also keeps whatever a client says until somebody asks for it; nobody does.
    """

    def __init__(
        self, client: socket.socket, *, head: Mapping[str, str], on_end: Callable[[], object]
    ) -> None:
        """Wrap a socket, which stays its owner's to close.

        Args:
            head: headers that the handshake's answer has to carry, too.
            on_end: called on the listening thread when it hears nothing more.
        """
        self._client = client
        self._head = "".join(f"\r\n{name}: {value}" for name, value in head.items()).encode("latin-1")
        self._on_end = on_end
        self._turn = threading.Lock()
        self._unheard = threading.Event()
        self._forget: Callable[[], object] = bytes

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._client.fileno()

    def forget_by(self, forget: Callable[[], object]) -> None:
        """Have ``forget`` called before more is read, to drop what has been said so far."""
        self._forget = forget

    def send(self, frame: bytes) -> int:
        """Send all of a frame.

        Raises:
            OSError: the client is gone, or takes nothing; part of the frame may have been sent.
        """
        if not self._turn.acquire(timeout=SEND_LIMIT_S):
            raise TimeoutError("the client takes nothing")
        try:
            self._client.sendall(self._completed(frame))
        finally:
            self._turn.release()
        return len(frame)

    def recv(self, most: int) -> bytes:
        """Read up to ``most`` bytes; none at the end."""
        self._forget()
        return self._client.recv(most)

    def close(self) -> None:
        """End the listening side: whoever is sending fails, whoever waits to send is told."""
        self._shut(socket.SHUT_WR)
        self._unheard.set()
        self._on_end()

    def finish(self) -> None:
        """Give the client a second to say its own close, and one to read ours; then it can be cut off."""
        if not self._unheard.wait(CLOSE_LIMIT_S):
            self._shut(socket.SHUT_RDWR)  # which ends the listening side
            self._unheard.wait(CLOSE_LIMIT_S)
        # closed with something unread, a socket resets, and our close frame would be lost on its way
        gevent.with_timeout(CLOSE_LIMIT_S, self._drain, timeout_value=None)

    def _completed(self, frame: bytes) -> bytes:
        if not self._head:
            return frame
        head, self._head = self._head, b""
        return frame.removesuffix(_HEAD_END) + head + _HEAD_END

    def _drain(self) -> None:
        with suppress(OSError):
            while self._client.recv(65_536):
                pass

    def _shut(self, how: int) -> None:
        with suppress(OSError):  # it is shut already
            self._client.shutdown(how)
