"""The Lua scripts: one file each, fragments prepended, shebang kept first; sent once, called by digest."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from core.ids import new_uuid
from core.keys import LaneKeys
from events.connect import storage_errors
from events.log import append_fragment

if TYPE_CHECKING:
    import redis
    from redis.commands.core import Script

NAMES = (
    *("submit", "cancel"),
    *("claim", "renew", "refence", "finish"),
    *("sweep", "expire_owner", "hold", "drop_workspace"),
)

Call = tuple[list[str], list[Any]]


@cache
def source(name: str) -> str:
    """Full source of a script as it is sent to Redis."""
    folder = files("jobs").joinpath("lua")
    text = folder.joinpath(f"{name}.lua").read_text("utf-8")
    shebang, newline, rest = text.partition("\n") if text.startswith("#!") else ("", "", text)
    prelude = folder.joinpath("prelude.lua").read_text("utf-8")
    return f"{shebang}{newline}{append_fragment()}\n{prelude}\n{rest}"


class Scripts:
    """The lane scripts, bound to a client. Each call is safe to repeat after a lost reply."""

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client
        self._scripts: dict[str, Script] = {name: client.register_script(source(name)) for name in NAMES}

    def call(self, name: str, keys: list[str], args: list[Any]) -> list[Any]:
        """Run one script.

        Raises:
            StorageFull: Redis is out of memory and the script may not run then.
            StorageUnavailable: no answer; it may or may not have run.
        """
        with storage_errors():
            reply: list[Any] = self._scripts[name](keys=keys, args=args)
        return reply

    def call_many(self, name: str, calls: Sequence[Call]) -> list[Any]:
        """Run one script several times in one round trip.

        Raises:
            StorageUnavailable: no answer; each may or may not have run.
        """
        with storage_errors(), self._redis.pipeline(transaction=False) as pipe:
            for keys, args in calls:
                self._scripts[name](keys=keys, args=args, client=pipe)
            return pipe.execute()


def state_keys(keys: LaneKeys) -> list[str]:
    """The keys that most scripts take first, events last."""
    shared = keys.partition
    lane = [keys.lane, keys.pending, keys.index, keys.done]
    return [*lane, shared.due, shared.wait, shared.stats, keys.events]


def log_args(keys: LaneKeys) -> list[str]:
    """The arguments that scripts which append events take first; the epoch is for a log that has none."""
    return [keys.base, keys.workspace, keys.channel, new_uuid()]


def stamp_in(text: str) -> int | None:
    """A doorbell's stamp in a reply; None when none is to be rung."""
    return int(text) or None
