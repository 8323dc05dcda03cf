from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from core.workspaces import Workspaces
from memory.paths import find_roots
from tests.support.lived_in import settle
from tests.support.memlane_up import Running, StartService, environment, running_memlane


@pytest.fixture(autouse=True)
def all_unmeasured(unmeasured: None) -> None:
    """Measure nothing of whole services."""


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


@pytest.fixture
def root(memory: Path, workspace: Path) -> Path:
    """The project's memory, lived in."""
    for folder in (memory, workspace):
        folder.mkdir()
    found = find_roots(memory, Workspaces([str(workspace)]).primary.path).project
    settle(found)
    return found
