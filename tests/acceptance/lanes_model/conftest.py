from collections.abc import Iterator
from typing import Any

import pytest

from events.connect import connect
from tests.support.lane_model_records import Caps
from tests.support.lane_model_redis import small_caps
from tests.support.redis_server import running_redis
from tests.support.waiting import until


@pytest.fixture(scope="module")
def model_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server that nobody else writes to, older than a lease, which keeps nothing on disk: it never dies."""
    with running_redis(tmp_path_factory.mktemp("model-redis")) as server:
        client: Any = connect(server.state_url)
        client.config_set("appendonly", "no")
        until(lambda: client.info("server")["uptime_in_seconds"] * 1000 >= Caps().lease_ms)
        with small_caps(Caps()):
            yield client
        client.close()
