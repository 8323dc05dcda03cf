"""The Lua scripts: one file each, fragments prepended, shebang kept first; sent once, called by digest."""

import hashlib
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

from redis.exceptions import NoScriptError, RedisError

from events.connect import storage_errors

if TYPE_CHECKING:
    import redis

Call = tuple[str, Sequence[str], Sequence[Any]]
"""Name of a script, its keys, its arguments."""

_Reply = TypeVar("_Reply")


class Scripts:
    """The scripts of one package, bound to a client; called by digest, and sent when the server lacks them.

    redis-py's own script objects ask the server before each pipeline whether it has the script, which is a
    round trip; here the server says so when it hasn't.
    """

    def __init__(self, client: "redis.Redis", sources: Mapping[str, str], *, is_pinned: bool = False) -> None:
        """Bind the client.

        Args:
            sources: of the scripts, whole, by name.
            is_pinned: each thread keeps a connection of its own, which saves it the pool's locks and looks;
                for few threads that call often.
        """
        self._redis = client
        self._sources = sources
        self._digests = {name: _digest(text) for name, text in sources.items()}
        self._pins = threading.local() if is_pinned else None

    def call(self, name: str, keys: Sequence[str], args: Sequence[Any]) -> list[Any]:
        """Run one script.

        Raises:
            StorageFull: Redis is out of memory and the script may not run then.
            StorageUnavailable: no answer; it may or may not have run.
        """
        client = self._client()
        reply: list[Any] = self._loaded(lambda: client.execute_command(*self._command(name, keys, args)))
        return reply

    def call_many(self, calls: Sequence[Call]) -> list[Any]:
        """Run scripts one after the other in one round trip.

        Raises:
            StorageUnavailable: no answer; each may or may not have run.
        """

        def run() -> list[Any]:
            with self._client().pipeline(transaction=False) as pipe:
                for call in calls:
                    pipe.execute_command(*self._command(*call))
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
                for text in self._sources.values():
                    self._redis.script_load(text)
                return run()

    def _command(self, name: str, keys: Sequence[str], args: Sequence[Any]) -> tuple[Any, ...]:
        return ("EVALSHA", self._digests[name], len(keys), *keys, *args)


@cache
def _digest(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def lua(package: str, name: str) -> str:
    """Source of one file in a package's ``lua`` folder."""
    return files(package).joinpath(f"lua/{name}.lua").read_text("utf-8")


def append_fragment() -> str:
    """Lua source that defines ``now_ms`` and ``append_event``; each loader of scripts prepends it."""
    return lua("events", "clock") + lua("events", "append")


def assembled(script: str, fragments: Iterable[str]) -> str:
    """A script as it is sent to Redis: its shebang, if it has one, the event fragment, others, the script."""
    shebang, newline, rest = script.partition("\n") if script.startswith("#!") else ("", "", script)
    return shebang + newline + "\n".join([append_fragment(), *fragments, rest])
