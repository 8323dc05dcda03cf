"""The embedded Redis of `memlane up`: one server process on a folder of ours.

What makes the data safe and portable between engines is in ``_render_config``; source: design page
"Dependencies", section "Embedded Redis rules".
"""

import json
import os
import secrets
import socket
import string
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from core import clock
from core.errors import DependencyError
from events.connect import connect, storage_errors
from events.errors import StorageUnavailable
from memlane.engine import Engine
from memlane.folders import FolderLock, clear_path_errors, lock_folder, make_private
from memlane.reaping import reap_killed
from memlane.tether import tethered

REDIS_FOLDER = "redis"
"""Where it lies in a home folder."""

_IDENTITY_FILE = "server.json"
_SOCKET_PATH_LIMIT_BYTES = 107  # sun_path without its closing NUL, unix(7)
_LOG_LIMIT_BYTES = 1024 * 1024
_PREDECESSOR_WAIT_S = 5.0
_POLL_S = 0.02
_PLAIN = frozenset((string.ascii_letters + string.digits + "/._-").encode())


def embedded_url(home: Path) -> str | None:
    """URL of the Redis that ``memlane up`` started last on a home folder; None if that can't be told.

    Whether it still runs is not looked at.
    """
    try:
        return str(json.loads((home / REDIS_FOLDER / _IDENTITY_FILE).read_text("utf-8"))["url"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


class RedisDidNotStart(DependencyError):
    """The embedded server ended or stayed silent; its data is as it was."""

    code = "redis_did_not_start"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server listens: a socket file, else a loopback port with a password.

    Attributes:
        password: None on a socket, which only this user can open.
    """

    socket_path: Path | None
    port: int = 0
    password: str | None = None

    def url(self, database: int) -> str:
        """URL of one database, as redis-py reads it."""
        if self.socket_path is not None:
            return f"unix://{quote(str(self.socket_path))}?db={database}"
        return f"redis://:{self.password}@127.0.0.1:{self.port}/{database}"


class EmbeddedRedis:
    """One server on one data folder, which it locks for as long as it lives."""

    def __init__(
        self, folder: Path, engine: Engine, *, predecessor_wait_s: float = _PREDECESSOR_WAIT_S
    ) -> None:
        """Prepare the folder (made with mode 0700) and lock it; nothing runs yet.

        Args:
            predecessor_wait_s: how long to wait for the folder, seconds: a server whose supervisor was killed
                may still be closing its files.

        Raises:
            FolderLocked: another server runs on the folder.
            ConfigError: the folder can't be used.
        """
        self._folder = make_private(folder.absolute())
        self._engine = engine
        self._lock: FolderLock = lock_folder(self._folder, wait_s=predecessor_wait_s)
        self._address = _choose_address(self._folder)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def state_url(self) -> str:
        """URL of the state database."""
        return self._address.url(0)

    @property
    def broker_url(self) -> str:
        """URL of dramatiq's database on the same server."""
        return self._address.url(1)

    @property
    def pid(self) -> int:
        """Process id of the running server; 0 while there is none."""
        return 0 if self._process is None else self._process.pid

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the server without waiting for it; call it from the main thread.

        The address stays the same over restarts. The server runs in its own session, so that Ctrl-C reaches
        it only through its supervisor, and ends with this process. ``server.json`` beside the data says
        what runs.

        Raises:
            ConfigError: the folder can't be written.
        """
        config = self._folder / "server.conf"
        with clear_path_errors(self._folder):
            _write_private(config, _render_config(self._folder, self._address))
            with _open_log(self._folder / "server.log") as log:
                self._process = subprocess.Popen(
                    tethered([str(self._engine.binary), str(config)]),
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    pass_fds=[self._lock.descriptor],  # the server holds the lock if we are killed
                )
            _write_private(self._folder / _IDENTITY_FILE, json.dumps(self._identity()))
        return self._process

    def ensure_running(self) -> subprocess.Popen[bytes]:
        """Return the running server, or start one without waiting for it, see ``spawn``."""
        if self._process is None or self._process.poll() is not None:
            return self.spawn()
        return self._process

    def start(self, *, limit_s: float = 30.0) -> None:
        """Start the server and wait until it answers.

        Args:
            limit_s: longest wait, seconds; loading a big log takes its time.

        Raises:
            RedisDidNotStart: it ended, or did not answer in time and was stopped.
            ConfigError: the folder can't be written.
        """
        process = self.spawn()
        if not _wait(process, self._answers, limit_s=limit_s):
            self.stop()
            raise RedisDidNotStart(f"the embedded Redis did not start: {self._last_words()}")

    def stop(self, *, grace_s: float = 5.0) -> None:
        """Stop the server and reap it: SIGTERM, and SIGKILL after ``grace_s`` seconds."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            reap_killed(self._process, name="redis")
        self._process = None

    def close(self) -> None:
        """Stop the server if it runs and give the folder back."""
        self.stop()
        self._lock.close()

    def _answers(self) -> bool:
        client = connect(self.state_url, timeout_s=1.0, retries=0)
        try:
            with storage_errors():
                return bool(client.ping())
        except StorageUnavailable:
            return False
        finally:
            client.close()

    def _identity(self) -> dict[str, str | int]:
        engine = self._engine
        return {"pid": self.pid, "url": self.state_url, "engine": engine.name, "version": engine.version}

    def _last_words(self) -> str:
        lines = (self._folder / "server.log").read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")


def _wait(process: subprocess.Popen[bytes], condition: Callable[[], bool], *, limit_s: float) -> bool:
    deadline_ms = clock.boot_ms() + int(limit_s * 1000)
    while clock.boot_ms() < deadline_ms:
        if condition():
            return True
        try:
            process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            continue
        return False
    return False


def _choose_address(folder: Path) -> Address:
    socket_path = folder / "redis.sock"
    if len(os.fsencode(socket_path)) <= _SOCKET_PATH_LIMIT_BYTES:
        return Address(socket_path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        # a port is open to every user of the machine, hence the password
        return Address(None, probe.getsockname()[1], secrets.token_hex(32))


def _render_config(folder: Path, address: Address) -> str:
    if address.socket_path is not None:
        listen = ["port 0", f"unixsocket {_quoted(address.socket_path)}", "unixsocketperm 700"]
    else:
        listen = [f"port {address.port}", "bind 127.0.0.1", f"requirepass {address.password}"]
    lines = [
        *listen,
        f"dir {_quoted(folder)}",
        "daemonize no",
        "loglevel warning",
        "appendonly yes",
        "appendfsync always",
        'save ""',
        "aof-use-rdb-preamble no",  # with it a data folder does not move between engines
        "maxmemory-policy noeviction",
        "slowlog-max-len 0",  # the slow log would keep request text
    ]
    return "\n".join(lines) + "\n"


def _quoted(path: Path) -> str:
    """Write a path as the server's configuration reader takes it, all but harmless bytes as hex escapes."""
    return '"' + "".join(_escaped(byte) for byte in os.fsencode(path)) + '"'


def _escaped(byte: int) -> str:
    return chr(byte) if byte in _PLAIN else f"\\x{byte:02x}"


def _write_private(path: Path, text: str) -> None:
    path.unlink(missing_ok=True)
    path.touch(0o600, exist_ok=False)
    path.write_text(text)


def _open_log(path: Path) -> BinaryIO:
    too_long = path.exists() and path.stat().st_size > _LOG_LIMIT_BYTES
    return path.open("wb" if too_long else "ab")
