"""A web process and its workspaces, shared by the tests of one module."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from core.keys import LaneKeys
from core.workspaces import Workspaces
from events.connect import connect
from memory.library import Library
from memory.paths import Roots, find_roots
from tests.support.client_sessions import enter
from tests.support.lane_driver import LaneDriver
from tests.support.web_app import AppRequests, application
from tests.support.web_server import WebServer, running_web

HEARTBEAT_S = 0.2


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two workspaces, the first one primary, the second one with a name that needs encoding."""
    base = tmp_path_factory.mktemp("workspaces")
    folders = [base / "first", base / "second ä%"]
    for folder in folders:
        folder.mkdir()
    return folders


@pytest.fixture(scope="module")
def workspaces(paths: list[Path]) -> Workspaces:
    return Workspaces(map(str, paths))


@pytest.fixture(scope="module")
def web(redis_url: str, paths: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    folder = tmp_path_factory.mktemp("web")
    with running_web(redis_url, paths, folder=folder, heartbeat_s=HEARTBEAT_S) as server:
        yield server


@pytest.fixture(scope="module")
def another(
    redis_url: str, paths: list[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[WebServer]:
    """A second instance of the same service."""
    with running_web(
        redis_url, paths, folder=tmp_path_factory.mktemp("another"), heartbeat_s=HEARTBEAT_S
    ) as server:
        yield server


@pytest.fixture(scope="module")
def lane(redis_url: str, workspaces: Workspaces) -> LaneDriver:
    """Plays the worker of the primary workspace."""
    return LaneDriver(redis_url, workspaces.primary.id)


@pytest.fixture(scope="module")
def memory_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Memory base of ``api``."""
    return tmp_path_factory.mktemp("memory")


@pytest.fixture(scope="module")
def api(redis_url: str, workspaces: Workspaces, memory_folder: Path) -> Iterator[AppRequests]:
    """The application without a server around it, for what does not need one."""
    with application(redis_url, workspaces, library=Library(memory_folder, local=False)) as app:
        yield AppRequests(app)


@pytest.fixture
def memory(web: WebServer, workspaces: Workspaces) -> Roots:
    """The primary workspace's roots, empty."""
    roots = find_roots(web.memory, workspaces.primary.path)
    for root in (roots.user, roots.project):
        for file in root.rglob("*.md"):
            file.unlink()
    return roots


@pytest.fixture
def own(web: WebServer) -> Mapping[str, Any]:
    """A client session that nobody shares."""
    return enter(web, sessionScope="thread")


@pytest.fixture
def stored(redis_url: str, workspaces: Workspaces) -> Iterator[None]:
    """Holds that the test changes nothing in the primary workspace's part of Redis."""
    redis: Any = connect(redis_url)
    pattern = f"{LaneKeys(workspaces.primary.id).base}*"
    before = {name: redis.dump(name) for name in redis.scan_iter(pattern, count=1000)}
    yield
    assert {name: redis.dump(name) for name in redis.scan_iter(pattern, count=1000)} == before
