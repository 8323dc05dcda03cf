"""Tells in a workspace's event log what happens to turns of its channels."""

import json
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from core.ids import WorkspaceId, new_uuid
from core.keys import LaneKeys
from events.connect import connect
from events.scripts import Scripts, assembled, lua

if TYPE_CHECKING:
    import redis


def open_announcer(redis_url: str) -> "Announcer":
    """Make a client; connects when first used.

    Raises:
        ConfigError: the URL is none.
    """
    return Announcer(connect(redis_url))


class Announcer:
    """Writes to the logs of all workspaces. Safe for use by many threads."""

    def __init__(self, client: "redis.Redis") -> None:
        self._scripts = Scripts(client, {"announce": source("announce")})

    def announce(self, workspace: WorkspaceId, kind: str, data: Mapping[str, Any]) -> None:
        """Append an event to the workspace's log, and tell who listens.

        Raises:
            StorageUnavailable, StorageFull: it may or may not have been told.
        """
        keys = LaneKeys(workspace)
        args = [keys.channel, new_uuid(), kind, json.dumps(data, separators=(",", ":"))]
        self._scripts.call("announce", [keys.lane, keys.events], args)


@cache
def source(name: str) -> str:
    """Full source of a script as it is sent to Redis."""
    return assembled(lua("events.chat", name), ())
