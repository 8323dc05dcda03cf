from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest

from memlane.embedded import EmbeddedRedis
from tests.support.cluster import Cluster, running_cluster
from tests.support.gates import Gates
from tests.support.redis_proxy import RedisProxy, redis_proxy


class MakeCluster(Protocol):
    def __call__(self, workspaces: int = 1, **settings: str) -> Cluster: ...


@pytest.fixture
def make_cluster(own_redis: EmbeddedRedis, tmp_path: Path) -> Iterator[MakeCluster]:
    """Makes the test's cluster on a Redis of its own; settings of all workers as keyword arguments."""
    with ExitStack() as stack:

        def make(workspaces: int = 1, **settings: str) -> Cluster:
            return stack.enter_context(
                running_cluster(own_redis, tmp_path, workspaces=workspaces, **settings)
            )

        yield make


@pytest.fixture
def gates(tmp_path: Path) -> Iterator[Gates]:
    """Steps at which agent children can be held."""
    gates = Gates(tmp_path / "gates")
    yield gates
    gates.open_all()


@pytest.fixture
def proxy(own_redis: EmbeddedRedis) -> Iterator[RedisProxy]:
    """A proxy in front of the test's Redis, for the one process that is to suffer."""
    with redis_proxy(own_redis.state_url) as proxy:
        yield proxy
