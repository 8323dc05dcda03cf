"""A running service seen from outside: its processes, further workers, its memory."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.ids import WorkspaceId, workspace_id
from events.connect import connect
from events.envelope import Envelope
from events.log import EventLog
from tests.support.child_processes import children_of, command_of
from tests.support.memlane_up import Running, environment
from tests.support.waiting import until


def part_of(service: Running, name: str) -> int:
    """Process id of one part of a running service: ``web``, ``worker`` or ``redis``."""

    def found() -> list[int]:
        return [pid for pid in children_of(service.process.pid) if _part_name(pid) == name]

    until(found)
    return found()[0]


def _part_name(pid: int) -> str:
    words = command_of(pid)
    return next((word for word in words if word in ("web", "worker")), "redis")


def agent_of(worker: int) -> int:
    """Process id of the only agent child of a worker."""
    until(lambda: children_of(worker))
    (agent,) = children_of(worker)
    return agent


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


@contextmanager
def further_worker(service: Running, folder: Path, workspaces: list[Path], **changes: str) -> Iterator[int]:
    """A second ``memlane worker`` on the same Redis and memory."""
    settings = {
        "MEMLANE_HOME": str(folder / "home-of-further-worker"),
        "MEMLANE_REDIS_URL": service.redis_url,
        "MEMLANE_MEMORY_DIR": str(folder / "memory"),
        "MEMLANE_WORKSPACES": ":".join(map(str, workspaces)),
        **changes,
    }
    command = [sys.executable, "-P", "-m", "memlane", "worker"]
    before = live_workers(service)
    process = subprocess.Popen(command, env=environment(folder, **settings), cwd=folder)
    try:
        until(lambda: live_workers(service) > before)
        yield process.pid
    finally:
        process.terminate()
        process.wait(20)


def live_workers(service: Running) -> int:
    return int(connect(service.redis_url).zcard("memlane:1:workers"))


def events_of(service: Running, workspace: Path) -> list[Envelope]:
    """The workspace's whole event log."""
    return EventLog(connect(service.redis_url)).read(id_of(workspace), after=0, count=2000)


def id_of(workspace: Path) -> WorkspaceId:
    return workspace_id(str(workspace.resolve()))


def facts(event: Envelope) -> Mapping[str, Any]:
    parsed: dict[str, Any] = json.loads(event.data_json)
    return parsed


def commits_in(memory: Path) -> list[str]:
    """Task ids of all commits in the store's journal, in their order."""
    entries = sorted((memory / "memlane" / "journal").glob("*.json"))
    return [json.loads(entry.read_text())["task"] for entry in entries]
