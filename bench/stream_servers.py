"""Servers of event streams that are compared: how each is started."""

import http.client
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.crowd import TOKEN
from bench.fleet import Fleet, running_fleet, wait_for
from bench.server import Ground
from core.ids import workspace_id
from core.keys import LaneKeys
from memlane.listening import bind, port_of

START_LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class Site:
    """Where a server is to listen, and the one workspace that it serves."""

    ground: Ground
    folder: Path
    port: int


class StreamServer(Protocol):
    """One that is compared."""

    name: str

    def start(self, fleet: Fleet, site: Site) -> None:
        """Start its process."""


class Ours:
    """The web process: one subscription a process, readers are cursors."""

    name = "memlane"

    def start(self, fleet: Fleet, site: Site) -> None:
        """Start it as a deployment does."""
        redis, home = site.ground.redis, site.ground.folder / "home"
        home.mkdir(exist_ok=True)
        settings = {
            "MEMLANE_REDIS_URL": redis.state_url,
            "MEMLANE_BROKER_URL": redis.broker_url,
            "MEMLANE_WORKSPACES": str(site.folder),
            "MEMLANE_MEMORY_DIR": str(home),
            "MEMLANE_HOME": str(home),
            "MEMLANE_TOKEN": TOKEN,
        }
        fleet.start([sys.executable, "-m", "memlane", "web", "--port", str(site.port)], settings)


class SubscriptionEach:
    """The peer: one subscription a client, each of which reads the log for itself."""

    name = "a subscription a client"

    def start(self, fleet: Fleet, site: Site) -> None:
        """Start it on the same gunicorn worker."""
        keys = LaneKeys(workspace_id(str(site.folder)))
        settings = {
            "BENCH_REDIS_URL": site.ground.redis.state_url,
            "BENCH_CHANNEL": keys.channel,
            "BENCH_STREAM": keys.events,
        }
        gunicorn = [sys.executable, "-m", "gunicorn", "-k", "gevent", "--no-control-socket"]
        served = ["--worker-connections", "10000", "-b", f"127.0.0.1:{site.port}"]
        fleet.start([*gunicorn, *served, "bench.peers.stream_app:app"], settings)


@contextmanager
def running_server(server: StreamServer, ground: Ground, folder: Path) -> Iterator[tuple[Fleet, int]]:
    """A server that answers, for the body: its processes and its port."""
    listener = bind("127.0.0.1", 0)
    port = port_of(listener)
    listener.close()
    with running_fleet(ground.folder / "server.log") as fleet:
        server.start(fleet, Site(ground, folder, port))
        wait_for(lambda: _answers(port), what=f"the start of {server.name}", limit_s=START_LIMIT_S)
        yield fleet, port


def _answers(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_LIMIT_S)
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except ConnectionError:
        return False
    finally:
        connection.close()
