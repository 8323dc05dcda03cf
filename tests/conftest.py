"""Fixtures that every package's tests share."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from memlane.embedded import EmbeddedRedis
from tests.support.memory import MemoryBase
from tests.support.redis_server import running_redis

# how long an example takes says what else the machine does
settings.register_profile(
    "unhurried", settings.default, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedRedis]:
    """One server for each pytest process; tests keep apart by fresh workspace ids."""
    with running_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture(scope="session")
def redis_url(redis_server: EmbeddedRedis) -> str:
    """State database of the shared server."""
    return redis_server.state_url


@pytest.fixture(scope="session")
def broker_url(redis_server: EmbeddedRedis) -> str:
    """Dramatiq's database of the shared server."""
    return redis_server.broker_url


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[EmbeddedRedis]:
    """A server of this test's own, to be stopped, killed and started again at will."""
    with running_redis(tmp_path / "own-redis") as server:
        yield server


@pytest.fixture
def memory_base(tmp_path: Path) -> MemoryBase:
    """A memory base with the roots of one workspace."""
    return MemoryBase(tmp_path)


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes start at their own speed: coverage doubles that time, and other tests measure them."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine, on an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    arguments = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    asyncio.run(pyfuncitem.obj(**arguments))
    return True
