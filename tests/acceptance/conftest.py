from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from memlane.client import Client
from tests.support.memlane_up import Running, environment, running_memlane

StartService = Callable[..., Running]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[StartService]:
    """Start a service in the test's folder; settings as keyword arguments."""
    with ExitStack() as stack:

        def begin(*arguments: str, **settings: str) -> Running:
            env = environment(tmp_path, **settings)
            return stack.enter_context(running_memlane(tmp_path, arguments, env=env))

        yield begin


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "memory"


def client_of(service: Running) -> Client:
    return Client(service.url, service.token)
