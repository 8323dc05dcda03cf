"""The task queues that are compared: how each one's workers and its load are started."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.fleet import ROOT, Fleet, NotInTime
from bench.peers.load import jobs_of, warm_up_jobs
from bench.peers.target import DIARY, SOCKET
from bench.server import Ground
from core.errors import DependencyError
from core.settings import changed_environment, load_settings

SLOTS = 8
PROCESSES = 2
LOAD_LIMIT_S = 120.0
PEERS = ("celery", "rq", "taskiq", "arq")


@dataclass(frozen=True, slots=True)
class Stage:
    """One measurement's place.

    Attributes:
        folders: workspaces that are loaded.
        threads: how many tasks one worker process of ours, or of dramatiq, runs at once.
    """

    ground: Ground
    folders: Sequence[Path]
    diary: Path
    threads: int = SLOTS // PROCESSES

    @property
    def peer_environment(self) -> Mapping[str, str]:
        """What peers read."""
        return {SOCKET: str(self.ground.folder / "redis" / "redis.sock"), DIARY: str(self.diary)}

    @property
    def lane_environment(self) -> Mapping[str, str]:
        """What our worker reads."""
        redis = self.ground.redis
        warm = self.ground.folder / "workspaces" / "warm"
        warm.mkdir(parents=True, exist_ok=True)
        return {
            "MEMLANE_REDIS_URL": redis.state_url,
            "MEMLANE_BROKER_URL": redis.broker_url,
            "MEMLANE_WORKSPACES": ":".join(map(str, [*self.folders, warm])),
            "MEMLANE_THREADS": str(self.threads),
            "MEMLANE_DRAIN_S": "1",
        }


class LoadFailed(DependencyError):
    """A peer's client failed. The message is its last word."""

    code = "bench_load_failed"


class Lanes:
    """Ours: strict order, one at a time, records and events."""

    name = "lanes"

    def start(self, fleet: Fleet, stage: Stage) -> None:
        """Start the workers."""
        command = [sys.executable, "-m", "bench.lane_app", str(stage.diary)]
        for _ in range(PROCESSES):
            fleet.start(command, stage.lane_environment)

    def warm_up(self, stage: Stage, count: int) -> None:
        """Submit tasks that don't count."""
        self._send(stage, warm_up_jobs(count))

    def load(self, stage: Stage, tasks_each: int) -> None:
        """Submit all tasks."""
        self._send(stage, list(jobs_of(len(stage.folders), tasks_each)))

    def _send(self, stage: Stage, jobs: Sequence[tuple[str, int]]) -> None:
        from bench.lane_app import open_sender

        redis = stage.ground.redis
        settings = load_settings(redis_url=redis.state_url, broker_url=redis.broker_url)
        warm = stage.ground.folder / "workspaces" / "warm"
        send = open_sender(settings, [*stage.folders, warm])
        for workspace, seq in jobs:
            send(workspace, seq)


@dataclass(frozen=True, slots=True)
class Peer:
    """Another queue, run by a Python that has it.

    Attributes:
        app: module of ``bench.peers`` without its suffix.
        commands: one worker process each, after the interpreter.
    """

    name: str
    app: str
    python: str
    commands: Sequence[Sequence[str]]

    def start(self, fleet: Fleet, stage: Stage) -> None:
        """Start the workers."""
        for command in self.commands:
            fleet.start([self.python, *command], stage.peer_environment)

    def warm_up(self, stage: Stage, count: int) -> None:
        """Submit tasks that don't count."""
        self._load(stage, 0, count)

    def load(self, stage: Stage, tasks_each: int) -> None:
        """Submit all tasks."""
        self._load(stage, len(stage.folders), tasks_each)

    def _load(self, stage: Stage, workspaces: int, tasks_each: int) -> None:
        try:
            subprocess.run(
                [self.python, "-m", "bench.peers.load", self.app, str(workspaces), str(tasks_each)],
                env=changed_environment(dict(stage.peer_environment)),
                cwd=ROOT,
                check=True,
                timeout=LOAD_LIMIT_S,
                capture_output=True,
                text=True,
            )
        except subprocess.TimeoutExpired:
            raise NotInTime(f"submitting to {self.name} took too long") from None
        except subprocess.CalledProcessError as error:
            raise LoadFailed(f"submitting failed: {_last_line(error.stderr)}") from None

    def is_installed(self) -> bool:
        """Whether that Python has it."""
        probe = f"import bench.peers.{self.app}_app"
        environment = changed_environment({SOCKET: "none", DIARY: "none"})
        answer = subprocess.run(
            [self.python, "-c", probe], env=environment, cwd=ROOT, capture_output=True, timeout=LOAD_LIMIT_S
        )
        return answer.returncode == 0


System = Lanes | Peer


def dramatiq_peer() -> Peer:
    """Raw dramatiq, as many threads as our workers have."""
    command = ["-m", "bench.peers.dramatiq_app", str(SLOTS // PROCESSES), "1000"]
    return Peer("dramatiq", "dramatiq", sys.executable, [command] * PROCESSES)


def find_peer(name: str, python: str, *, processes: int = PROCESSES) -> Peer:
    """A peer by name.

    Args:
        processes: 1 where a peer can only keep the order that way.
    """
    celery = ["-m", "celery", "-A", "bench.peers.celery_app", "worker", "-l", "WARNING", "-c", str(processes)]
    commands = {
        "celery": [[*celery, "--without-gossip", "--without-mingle"]],
        "rq": [["-m", "bench.peers.rq_app"]] * processes,
        "taskiq": [
            ["-m", "taskiq", "worker", "bench.peers.taskiq_app:broker", "--workers", str(processes)],
        ],
        "arq": [["-m", "arq", "bench.peers.arq_app.Worker"]] * processes,
    }
    return Peer(name if processes > 1 else f"{name}, one process", name, python, commands[name])


def _last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it said nothing")
