"""What a supervisor runs: the commands of the parts and what they are told."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import ConfigError
from core.settings import changed_environment
from memlane.listening import port_of
from memlane.site import Site
from memlane.supervisor import Part
from memlane.tether import tethered

# together under the 12 s in which `memlane up` stops, the embedded Redis included
WORKER_GRACE_S = 6.5
WEB_GRACE_S = 1.8
REDIS_GRACE_S = 1.2
CHANNELS_GRACE_S = 2.0
_DRAIN_S = 5.0
_CHANNELS_DRAIN_S = 0.5


@dataclass(frozen=True, slots=True)
class RedisUrls:
    """Where state and doorbells live."""

    state: str
    broker: str


def own_command(part: str, *arguments: str) -> list[str]:
    """Command of another process of ours; ``-P`` keeps the folder it runs in out of the import path."""
    return [sys.executable, "-P", "-m", "memlane", part, *arguments]


def web_part(site: Site, urls: RedisUrls, listener: socket.socket) -> Part:
    """The web, on a socket that stays open while it is restarted.

    Raises:
        ConfigError: a workspace's path can't be handed on.
    """
    environment = changed_environment(
        {
            **_shared(site, urls),
            "MEMLANE_TOKEN": site.token,
            "MEMLANE_HOST": site.settings.host,
            "MEMLANE_PORT": str(port_of(listener)),
        }
    )
    descriptor = listener.fileno()
    command = own_command("web", "--listen-fd", str(descriptor))
    return Part("web", _spawner(command, environment, descriptors=(descriptor,)), WEB_GRACE_S)


def worker_part(site: Site, urls: RedisUrls) -> Part:
    """The worker; it is not given the token.

    Raises:
        ConfigError: a workspace's path can't be handed on.
    """
    drain_s = min(site.settings.drain_s, _DRAIN_S)
    changes = {
        **_shared(site, urls),
        "MEMLANE_TOKEN": None,
        "MEMLANE_DRAIN_S": f"{drain_s:g}",
        "MEMLANE_ADOPT_STORE": "1" if site.settings.adopt_store else None,
    }
    return Part("worker", _spawner(own_command("worker"), changed_environment(changes)), WORKER_GRACE_S)


def channels_part(site: Site, urls: RedisUrls) -> Part:
    """The process that serves chat channels; it is not given the token.

    Raises:
        ConfigError: a workspace's path can't be handed on.
    """
    changes = {
        **_shared(site, urls),
        "MEMLANE_TOKEN": None,
        "MEMLANE_DRAIN_S": f"{min(site.settings.drain_s, _CHANNELS_DRAIN_S):g}",
        "MEMLANE_CHANNELS_FILE": str(site.settings.channels_path),
    }
    command = own_command("channel", "run")
    return Part("channels", _spawner(command, changed_environment(changes)), CHANNELS_GRACE_S)


def _shared(site: Site, urls: RedisUrls) -> dict[str, str | None]:
    run_dir = site.settings.run_dir
    return {
        "MEMLANE_HOME": str(site.settings.home),
        "MEMLANE_RUN_DIR": None if run_dir is None else str(run_dir),
        "MEMLANE_WORKSPACES": _joined(site),
        "MEMLANE_MEMORY_DIR": str(site.settings.memory_base),
        "MEMLANE_STORE_ID": site.settings.store_id,
        "MEMLANE_REDIS_URL": urls.state,
        "MEMLANE_BROKER_URL": urls.broker,
    }


def _joined(site: Site) -> str:
    paths = [workspace.path for workspace in site.workspaces]
    awkward = next((path for path in paths if os.pathsep in path), None)
    if awkward is not None:
        raise ConfigError(f"workspace {awkward!r} has {os.pathsep!r} in its path, which separates workspaces")
    return os.pathsep.join(paths)


def _spawner(
    command: Sequence[str], environment: Mapping[str, str], *, descriptors: Sequence[int] = ()
) -> Callable[[], subprocess.Popen[bytes]]:
    def spawn() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            tethered(command),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=2,  # our standard output belongs to our own answer
            start_new_session=True,  # Ctrl-C is for the supervisor, which stops parts in order
            pass_fds=descriptors,
        )

    return spawn
