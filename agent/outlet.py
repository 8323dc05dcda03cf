"""The child's way out: whole lines on a descriptor of its own, from any thread."""

import os
import threading

from core.logs import get_logger
from memory.descriptors import write_all

_log = get_logger(__name__)


def take_stdout() -> int:
    """Keep standard output for the protocol and let whatever prints go to standard error.

    Returns:
        A descriptor of what was standard output.
    """
    protocol = os.dup(1)
    os.dup2(2, 1)
    return protocol


class Outlet:
    """Writes lines one after the other; once the peer is gone it drops them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._open = True

    def send(self, line: bytes) -> None:
        """Write a whole line; blocks while the peer doesn't read."""
        with self._lock:
            if not self._open:
                return
            try:
                write_all(self._descriptor, line)
            except OSError as error:
                self._open = False
                _log.warning("peer_gone", errno=error.errno)
