"""Which session serves whom, kept over a restart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from channels.envelope import Target

RouteKey = tuple[str, ...]
"""Who shares a session: channel and what the session scope adds to it."""


@dataclass(frozen=True, slots=True)
class Route:
    """A session and whom it serves.

    Attributes:
        target: of the message that opened it.
        cwd: absolute path that the agent works in.
    """

    session_id: str
    target: Target
    cwd: str


class RouteStore(Protocol):
    """Keeps a channel's routes; at its best effort."""

    async def load(self) -> Mapping[RouteKey, Route]:
        """What was saved last; empty when nothing was, or it can't be read."""
        ...

    async def save(self, routes: Mapping[RouteKey, Route]) -> None:
        """Replace what is saved."""
        ...
