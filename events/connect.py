"""The one place that makes Redis clients, and the one that translates their errors."""

from collections.abc import Iterator
from contextlib import contextmanager

import redis
from redis.backoff import NoBackoff
from redis.exceptions import OutOfMemoryError
from redis.retry import Retry

from events.errors import StorageFull, StorageUnavailable

CONNECT_TIMEOUT_S = 2.0


def connect(url: str, *, timeout_s: float = 5.0, retries: int = 1, text: bool = True) -> "redis.Redis":
    """Make a client that never waits longer than it was told.

    Args:
        url: ``redis://…`` or ``unix://…?db=N``.
        timeout_s: limit of one reply, seconds; longer than any blocking command sent on it.
        retries: immediate repeats after a lost connection. All our scripts are safe to repeat; use 0 for
            commands that are not.
        text: whether replies are decoded; dramatiq wants bytes.
    """
    return redis.Redis.from_url(
        url,
        decode_responses=text,
        socket_timeout=timeout_s,
        socket_connect_timeout=min(timeout_s, CONNECT_TIMEOUT_S),
        health_check_interval=30,
        retry=Retry(NoBackoff(), retries),
    )


@contextmanager
def storage_errors() -> Iterator[None]:
    """Translate what redis-py raises.

    Raises:
        StorageFull: the server is out of memory.
        StorageUnavailable: no connection, no reply in time, or a server that can't serve now.
    """
    try:
        yield
    except OutOfMemoryError as error:
        raise StorageFull("Redis is out of memory") from error
    except redis.RedisError as error:
        raise StorageUnavailable(f"Redis gave no answer ({type(error).__name__})") from error
