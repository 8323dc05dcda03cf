"""A real Redis for tests, started the way `memlane up` starts it."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.errors import ConfigError
from memlane.embedded import EmbeddedRedis
from memlane.engine import Engine, find_engine


def engine_or_skip() -> Engine:
    """The server program that tests run on; without one the test skips, or fails when ``CI`` is set."""
    configured = os.environ.get("MEMLANE_REDIS_BIN")
    try:
        return find_engine(Path(configured) if configured else None)
    except ConfigError as error:
        if os.environ.get("CI"):
            pytest.fail(str(error))
        pytest.skip(str(error))


@contextmanager
def running_redis(folder: Path) -> Iterator[EmbeddedRedis]:
    """Run a server on ``folder`` for the body; it is gone afterwards."""
    server = EmbeddedRedis(folder, engine_or_skip())
    try:
        server.start()
        yield server
    finally:
        server.close()


def kill_redis(server: EmbeddedRedis) -> None:
    """End the server the hard way and reap it; ``start`` brings it back on the same data."""
    os.kill(server.pid, signal.SIGKILL)
    server.stop()
