"""The whole service as a user starts it: ``memlane up`` in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from memlane.client import Client
from tests.support.waiting import until

STOP_S = 20.0


def clean_environment(home: Path, changes: Mapping[str, str] | None = None) -> dict[str, str]:
    """Nothing of the machine's own settings reaches the service; coverage follows if it is on."""
    kept = {name: os.environ[name] for name in os.environ if name.startswith("COVERAGE_")}
    path = os.environ.get("PATH", "")
    return {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", **kept, **(changes or {})}


@dataclass(frozen=True)
class Places:
    """Folders of one installation, all below the test's own."""

    root: Path

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def workspaces(self) -> Path:
        return self.root / "workspaces"

    @property
    def memory(self) -> Path:
        return self.root / "memory"

    def prepare(self, *names: str) -> list[Path]:
        self.memory.mkdir(parents=True, exist_ok=True)
        self.home.mkdir(parents=True, exist_ok=True)
        folders = [self.workspaces / name for name in names or ("ws",)]
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        return folders


class Service:
    """A running ``memlane up``."""

    def __init__(self, process: "subprocess.Popen[bytes]", places: Places, announced: Mapping[str, Any]) -> None:
        self.process = process
        self.places = places
        self.url: str = announced["url"]
        self.redis_url: str = announced["redisUrl"]
        self.token = Path(announced["tokenFile"]).read_text().strip()
        self.pid: int = announced["pid"]

    def client(self) -> Client:
        return Client(self.url, self.token)

    def http(self) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=30.0)

    def pid_of(self, part: str) -> int:
        """Process id of one part, found as a child of the supervisor."""
        found = [pid for pid in children_of(self.pid) if part in command_of(pid)]
        assert len(found) == 1, f"{part}: {found}"
        return found[0]

    def agents(self) -> list[int]:
        return [pid for pid in children_of(self.pid_of("worker")) if "agent" in command_of(pid)]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(STOP_S)


@contextmanager
def running_service(
    places: Places,
    *,
    workspaces: Sequence[Path] | None = None,
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Iterator[Service]:
    """Start the service, wait until it says that it is ready, stop it afterwards."""
    folders = workspaces or places.prepare()
    command = [sys.executable, "-P", "-m", "memlane", "up", "--json", "--port", "0", "--home", str(places.home)]
    command += [part for folder in folders for part in ("--workspace", str(folder))]
    command += ["--memory-dir", str(places.memory)]
    log = (places.root / "service.log").open("ab")
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=log,
        cwd=cwd or places.root,
        env=clean_environment(places.root, environment),
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"memlane up said nothing: {(places.root / 'service.log').read_text()[-4000:]}"
        yield Service(process, places, json.loads(line))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_S)
        assert process.stdout is not None
        process.stdout.close()
        log.close()


def children_of(pid: int) -> list[int]:
    """Direct children, as the kernel lists them."""
    tasks = Path(f"/proc/{pid}/task")
    try:
        texts = [(task / "children").read_text() for task in tasks.iterdir()]
    except OSError:
        return []
    return [int(word) for text in texts for word in text.split()]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def descendants_of(pid: int) -> list[int]:
    direct = children_of(pid)
    return [*direct, *(deeper for child in direct for deeper in descendants_of(child))]


def is_alive(pid: int) -> bool:
    try:
        return "zombie" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def wait_gone(pids: Sequence[int]) -> None:
    until(lambda: not any(is_alive(pid) for pid in pids))
