"""The one place that makes Redis clients, and the one that translates their errors."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ClusterDownError, OutOfMemoryError, TryAgainError
from redis.retry import Retry

from core.errors import ConfigError
from events.errors import StorageFull, StorageUnavailable

CONNECT_TIMEOUT_S = 2.0
# as many as a web process has of its own; redis-py's 100 would refuse a crowd of readers
MAX_CONNECTIONS = 4096

_CANT_SERVE = (
    redis.ConnectionError,
    redis.InvalidResponse,  # it speaks another protocol
    redis.TimeoutError,
    redis.ReadOnlyError,
    ClusterDownError,
    TryAgainError,
)
# full disk, lost replicas, a script that blocks, data being loaded, a replica without its primary, a primary
# that became a replica while somebody waited there
_CANT_NOW = ("MISCONF", "NOREPLICAS", "BUSY", "LOADING", "MASTERDOWN", "UNBLOCKED")


def connect(url: str, *, timeout_s: float = 5.0, retries: int = 1, text: bool = True) -> "redis.Redis":
    """Make a client that never waits longer than it was told.

    Args:
        url: ``redis://…`` or ``unix://…?db=N``.
        timeout_s: limit of one reply, seconds; longer than any blocking command sent on it.
        retries: immediate repeats after a lost connection. Nearly all that we ask of Redis may be repeated;
            use 0 for what may not.
        text: whether replies are decoded; dramatiq wants bytes.

    Raises:
        ConfigError: the URL is none.
    """
    try:
        return redis.Redis.from_url(
            url,
            decode_responses=text,
            socket_timeout=timeout_s,
            socket_connect_timeout=min(timeout_s, CONNECT_TIMEOUT_S),
            health_check_interval=30,
            max_connections=MAX_CONNECTIONS,
            retry=Retry(NoBackoff(), retries),
        )
    except ValueError:
        raise ConfigError("a Redis URL must start with redis://, rediss:// or unix://") from None


@contextmanager
def storage_errors() -> Iterator[None]:
    """Translate what redis-py raises.

    Raises:
        StorageFull: the server is out of memory.
        StorageUnavailable: no connection, no reply in time, or a server that can't serve now. What redis-py
            says of a mistake (a wrong type, a script's fault, a missing right) passes through.
    """
    try:
        yield
    except OutOfMemoryError as error:
        raise StorageFull("Redis is out of memory") from error
    except _CANT_SERVE as error:
        raise StorageUnavailable(f"Redis gave no answer ({type(error).__name__})") from error
    except redis.ResponseError as error:
        if not str(error).startswith(_CANT_NOW):
            raise  # a mistake of ours, or of who set the server up: shown with its traceback
        raise StorageUnavailable("Redis refuses to serve now") from error
