"""Redis under Sentinel on loopback: one primary, one replica, three sentinels, in a folder of their own."""

import shutil
import signal
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool

from bench.fleet import Fleet, running_fleet, wait_for
from core.errors import ConfigError
from events.connect import connect, storage_errors
from events.errors import StorageUnavailable

SERVICE = "lanes"
QUORUM = 2
DOWN_AFTER_MS = 3_000
TIMEOUT_S = 2.0
START_LIMIT_S = 30.0

Address = tuple[str, int]


class NoSentinel(ConfigError):
    """The programs are missing. The message names what to install."""

    code = "bench_no_sentinel"


@dataclass(frozen=True, slots=True)
class Servers:
    """What runs.

    Attributes:
        primary, replica: fleets of one process, by what they are at first.
    """

    folder: Path
    ports: Sequence[int]
    primary: Fleet
    replica: Fleet
    sentinels: Fleet
    sentinel: Sentinel

    def master(self) -> Address | None:
        """Where Sentinel says that the primary is; None while it can't tell."""
        with suppress(MasterNotFoundError, redis.ConnectionError, redis.TimeoutError):
            host, port = self.sentinel.discover_master(SERVICE)
            return str(host), int(port)
        return None

    def client(self) -> "redis.Redis":
        """A client of whatever is the primary; it repeats nothing by itself."""
        return redis.Redis.from_pool(self._pool())

    def pinned_client(self) -> "redis.Redis":
        """A client of the primary with one connection, so that WAIT counts for what was sent before it.

        Raises:
            redis.ConnectionError: there is no primary now.
        """
        return redis.Redis(connection_pool=self._pool(), single_connection_client=True)

    def _pool(self) -> SentinelConnectionPool:
        return SentinelConnectionPool(
            SERVICE,
            self.sentinel,
            retry=Retry(NoBackoff(), 0),
            decode_responses=True,
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
        )

    def part_replica(self) -> None:
        """Cut the first replica off: it stands still, its link is closed. SIGCONT lets it go on."""
        self.replica.signal(signal.SIGSTOP)
        client = connect(f"redis://127.0.0.1:{self.ports[0]}/0", timeout_s=TIMEOUT_S)
        client.client_kill_filter(_type="replica")
        client.close()

    def revive_first(self) -> None:
        """Start the server that was the primary at first; Sentinel makes it a replica."""
        self.primary.start(_server_command(self.folder / "redis-0"), {})

    def has_replica(self) -> bool:
        """Whether the primary of now has a replica that is in step."""
        address = self.master()
        return address is not None and any(
            name.startswith("slave") and isinstance(facts, dict) and facts.get("state") == "online"
            for name, facts in _replication(address[1]).items()
        )


@contextmanager
def running_servers(folder: Path) -> Iterator[Servers]:
    """Start everything, until Sentinel knows the replica and all its own.

    Raises:
        NoSentinel: the programs are missing.
        NotInTime: they did not find each other; the logs are in the folder.
    """
    ports = _free_ports(5)
    for number in (0, 1):
        _write_server(folder / f"redis-{number}", ports[number], replica_of=ports[0] if number else None)
    for number in (2, 3, 4):
        _write_sentinel(folder / f"sentinel-{number}", ports[number], watched=ports[0])
    with ExitStack() as held:
        primary = held.enter_context(running_fleet(folder / "primary.log"))
        replica = held.enter_context(running_fleet(folder / "replica.log"))
        sentinels = held.enter_context(running_fleet(folder / "sentinels.log"))
        primary.start(_server_command(folder / "redis-0"), {})
        replica.start(_server_command(folder / "redis-1"), {})
        wait_for(lambda: _is_linked(ports[1]), what="replication", limit_s=START_LIMIT_S)
        for number in (2, 3, 4):
            sentinels.start(
                [_program("redis-sentinel"), str(folder / f"sentinel-{number}" / "server.conf")], {}
            )
        sentinel = Sentinel(
            [("127.0.0.1", port) for port in ports[2:]], socket_timeout=TIMEOUT_S, decode_responses=True
        )
        wait_for(lambda: _is_complete(ports[2:]), what="Sentinel's agreement", limit_s=START_LIMIT_S)
        yield Servers(folder, ports, primary, replica, sentinels, sentinel)


def _server_command(folder: Path) -> list[str]:
    return [_program("redis-server"), str(folder / "server.conf")]


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise NoSentinel(f"{name} is not installed; on Debian: apt-get install redis-sentinel redis-server")
    return found


def _free_ports(count: int) -> list[int]:
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def _write_server(folder: Path, port: int, *, replica_of: int | None) -> None:
    lines = [
        *(f"port {port}", "bind 127.0.0.1", f"dir {folder}", "daemonize no"),
        *("appendonly yes", "appendfsync always", 'save ""', "maxmemory-policy noeviction"),
        "repl-diskless-sync-delay 0",
        *([] if replica_of is None else [f"replicaof 127.0.0.1 {replica_of}"]),
    ]
    _write_config(folder, lines)


def _write_sentinel(folder: Path, port: int, *, watched: int) -> None:
    lines = [
        *(f"port {port}", "bind 127.0.0.1", f"dir {folder}", "daemonize no"),
        f"sentinel monitor {SERVICE} 127.0.0.1 {watched} {QUORUM}",
        f"sentinel down-after-milliseconds {SERVICE} {DOWN_AFTER_MS}",
        f"sentinel failover-timeout {SERVICE} 10000",
    ]
    _write_config(folder, lines)


def _write_config(folder: Path, lines: Sequence[str]) -> None:
    folder.mkdir()
    (folder / "server.conf").write_text("\n".join(lines) + "\n")


def _replication(port: int) -> dict[str, object]:
    client = connect(f"redis://127.0.0.1:{port}/0", timeout_s=TIMEOUT_S, retries=0)
    try:
        with storage_errors():
            return dict(client.info("replication"))
    except StorageUnavailable:
        return {}
    finally:
        client.close()


def _is_linked(port: int) -> bool:
    return _replication(port).get("master_link_status") == "up"


def _is_complete(ports: Sequence[int]) -> bool:
    return all(_knows_all(port) for port in ports)


def _knows_all(port: int) -> bool:
    client = connect(f"redis://127.0.0.1:{port}/0", timeout_s=TIMEOUT_S, retries=0)
    try:
        facts: Any = client.sentinel_master(SERVICE)
        return int(facts["num-slaves"]) == 1 and int(facts["num-other-sentinels"]) == len((2, 3))
    except (redis.ConnectionError, redis.TimeoutError, redis.ResponseError):
        return False
    finally:
        client.close()
