from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.support.memlane_up import Running, StartService, environment, running_memlane


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
