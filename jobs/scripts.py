"""The Lua scripts: one file each, fragments prepended, shebang kept first; sent once, called by digest."""

import hashlib
import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from redis.exceptions import NoScriptError, RedisError

from core.ids import new_uuid
from core.keys import LaneKeys
from events.connect import storage_errors
from events.scripts import assembled, lua

if TYPE_CHECKING:
    import redis

FRAGMENTS = {
    "submit": ("lane", "records"),
    "cancel": ("lane", "records"),
    "claim": ("lane", "lease"),
    "renew": (),
    "refence": (),
    "progress": (),
    "scrub": (),
    "finish": ("lane", "records", "lease"),
    "sweep": (),
    "expire_owner": (),
    "hold": ("lane",),
    "take": (),
    "drop_workspace": ("lane", "records"),
}
"""What each script takes beside the event fragment and the prelude, in this order."""

KNOWN_LANES = 4096  # whose keys are remembered

Call = tuple[str, Sequence[str], Sequence[Any]]
"""Name of a script, its keys, its arguments."""


_Reply = TypeVar("_Reply")


@cache
def source(name: str) -> str:
    """Full source of a script as it is sent to Redis."""
    return assembled(lua("jobs", name), [lua("jobs", part) for part in ("prelude", *FRAGMENTS[name])])


class Scripts:
    """The scripts of this package, bound to a client. All but ``take`` are safe to repeat after a lost reply.

    redis-py's own script objects ask the server before each pipeline whether it has the script, which is a
    round trip; here the server says so when it hasn't.
    """

    def __init__(self, client: "redis.Redis", *, is_pinned: bool = False) -> None:
        """Bind the client.

        Args:
            is_pinned: each thread keeps a connection of its own, which saves it the pool's locks and looks;
                for few threads that call often.
        """
        self._redis = client
        self._pins = threading.local() if is_pinned else None

    def call(self, name: str, keys: Sequence[str], args: Sequence[Any]) -> list[Any]:
        """Run one script.

        Raises:
            StorageFull: Redis is out of memory and the script may not run then.
            StorageUnavailable: no answer; it may or may not have run.
        """
        client = self._client()
        reply: list[Any] = self._loaded(lambda: client.execute_command(*_command(name, keys, args)))
        return reply

    def call_many(self, calls: Sequence[Call]) -> list[Any]:
        """Run scripts one after the other in one round trip.

        Raises:
            StorageUnavailable: no answer; each may or may not have run.
        """

        def run() -> list[Any]:
            with self._client().pipeline(transaction=False) as pipe:
                for call in calls:
                    pipe.execute_command(*_command(*call))
                # redis-py rewrites what it raises itself, and then it is not known for what it is
                replies = pipe.execute(raise_on_error=False)
            for reply in replies:
                if isinstance(reply, RedisError):
                    raise reply
            return replies

        return self._loaded(run)

    def _client(self) -> "redis.Redis":
        if self._pins is None:
            return self._redis
        client: redis.Redis | None = getattr(self._pins, "client", None)
        if client is None:
            with storage_errors():
                client = self._pins.client = self._redis.client()
        return client

    def _loaded(self, run: Callable[[], _Reply]) -> _Reply:
        with storage_errors():
            try:
                return run()
            except NoScriptError:
                # a new server, or one that was restarted; what has run already may be repeated
                for name in FRAGMENTS:
                    self._redis.script_load(source(name))
                return run()


def _command(name: str, keys: Sequence[str], args: Sequence[Any]) -> tuple[Any, ...]:
    return ("EVALSHA", _digest(name), len(keys), *keys, *args)


@cache
def _digest(name: str) -> str:
    return hashlib.sha1(source(name).encode(), usedforsecurity=False).hexdigest()


lane_keys = lru_cache(KNOWN_LANES)(LaneKeys)
"""The keys of a workspace's lane; made once for each."""


@lru_cache(KNOWN_LANES)
def state_keys(keys: LaneKeys) -> tuple[str, ...]:
    """The keys that scripts which change a lane take first, events last."""
    shared = keys.partition
    lane = (keys.lane, keys.pending, keys.index, keys.done)
    return (*lane, shared.due, shared.wait, shared.stats, keys.events)


def log_args(keys: LaneKeys) -> list[str]:
    """The arguments that these scripts take first; the epoch is for an event log that has none."""
    return [keys.base, keys.workspace, keys.channel, new_uuid()]


def stamp_in(text: str) -> int | None:
    """A doorbell's stamp in a reply; None when none is to be rung."""
    return int(text) or None
