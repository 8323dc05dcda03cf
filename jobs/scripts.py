"""The Lua scripts: one file each, fragments prepended, shebang kept first; sent once, called by digest."""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from redis.exceptions import NoScriptError, RedisError

from core.ids import new_uuid
from core.keys import LaneKeys
from events.connect import storage_errors
from events.log import append_fragment

if TYPE_CHECKING:
    import redis

FRAGMENTS = {
    "submit": ("lane", "records"),
    "cancel": ("lane", "records"),
    "claim": ("lane", "lease"),
    "renew": (),
    "refence": (),
    "finish": ("lane", "records", "lease"),
    "sweep": (),
    "expire_owner": (),
    "hold": ("lane",),
    "drop_workspace": ("lane", "records"),
}
"""What each script takes beside the event fragment and the prelude, in this order."""

Call = tuple[str, list[str], list[Any]]
"""Name of a script, its keys, its arguments."""


_Reply = TypeVar("_Reply")


@cache
def source(name: str) -> str:
    """Full source of a script as it is sent to Redis."""
    folder = files("jobs").joinpath("lua")
    text = folder.joinpath(f"{name}.lua").read_text("utf-8")
    shebang, newline, rest = text.partition("\n") if text.startswith("#!") else ("", "", text)
    ours = [folder.joinpath(f"{part}.lua").read_text("utf-8") for part in ("prelude", *FRAGMENTS[name])]
    return shebang + newline + "\n".join([append_fragment(), *ours, rest])


class Scripts:
    """The lane scripts, bound to a client. Each call is safe to repeat after a lost reply.

    redis-py's own script objects ask the server before each pipeline whether it has the script, which is a
    round trip; here the server says so when it hasn't.
    """

    def __init__(self, client: "redis.Redis") -> None:
        self._redis = client

    def call(self, name: str, keys: list[str], args: list[Any]) -> list[Any]:
        """Run one script.

        Raises:
            StorageFull: Redis is out of memory and the script may not run then.
            StorageUnavailable: no answer; it may or may not have run.
        """
        reply: list[Any] = self._loaded(lambda: self._redis.execute_command(*_command(name, keys, args)))
        return reply

    def call_many(self, calls: Sequence[Call]) -> list[Any]:
        """Run scripts one after the other in one round trip.

        Raises:
            StorageUnavailable: no answer; each may or may not have run.
        """

        def run() -> list[Any]:
            with self._redis.pipeline(transaction=False) as pipe:
                for call in calls:
                    pipe.execute_command(*_command(*call))
                # redis-py rewrites what it raises itself, and then it is not known for what it is
                replies = pipe.execute(raise_on_error=False)
            for reply in replies:
                if isinstance(reply, RedisError):
                    raise reply
            return replies

        return self._loaded(run)

    def _loaded(self, run: Callable[[], _Reply]) -> _Reply:
        with storage_errors():
            try:
                return run()
            except NoScriptError:
                # a new server, or one that was restarted; what has run already may be repeated
                for name in FRAGMENTS:
                    self._redis.script_load(source(name))
                return run()


def _command(name: str, keys: list[str], args: list[Any]) -> tuple[Any, ...]:
    return ("EVALSHA", _digest(name), len(keys), *keys, *args)


@cache
def _digest(name: str) -> str:
    return hashlib.sha1(source(name).encode(), usedforsecurity=False).hexdigest()


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
