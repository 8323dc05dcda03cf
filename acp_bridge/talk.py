"""Who listens to what a child says without being asked, beside the bridge itself."""

from collections.abc import Callable
from typing import Protocol

from core import jsonrpc

Reply = Callable[[bytes], None]
"""Sends a frame to the child; does nothing once it is gone."""


class Talk(Protocol):
    """Hears one child. For the loop's thread; nothing here may block."""

    def hear(self, notice: jsonrpc.Notification) -> bool:
        """Take a notification in; tells whether it was for this listener."""
        ...

    def asked(self, request: jsonrpc.Request, reply: Reply) -> bool:
        """Take a request in, to be answered now or later; tells whether it was for this listener."""
        ...

    def ended(self) -> None:
        """The child is gone, and every call of it has been told so."""
        ...
