"""Several real workers on one real Redis and one memory base, and clients that submit to them."""

import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.ids import Kind, WorkspaceId, new_uuid, workspace_id
from core.settings import Settings
from events.connect import connect
from jobs.broker import QUEUE
from jobs.client import open_jobs, require_fit_redis
from jobs.limits import limits_of
from jobs.tasks import Submission, Task
from jobs.viewer import Viewer
from memlane.embedded import EmbeddedRedis
from memory.store import open_store
from tests.support import faulty_worker
from tests.support.history import LaneHistory, Recorder, read_commits
from tests.support.invariants import Violation, check, check_documents
from tests.support.lane import LaneUnderTest
from tests.support.memlane_up import environment
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
SHARED_MEMORY = Path("/dev/shm")  # where slot locks are believed
START_LIMIT_S = 60.0
STOP_LIMIT_S = 60.0
END_LIMIT_S = 60.0

SHORT = {"lease_ms": "2500", "renew_ms": "500", "margin_ms": "500", "sweep_ms": "200"}
"""Settings under which a lost worker is noticed within seconds."""
LEASE_MS = int(SHORT["lease_ms"])
SLACK_MS = 5_000  # on top of every span that is asserted: the machine may be busy


def outcome(task: Task) -> tuple[str, str | None, int]:
    """How a task ended: status, code, attempt."""
    return task.status, task.error_code, task.attempt


@dataclass(frozen=True, slots=True)
class Worker:
    """A worker process, leader of its own group; ``log`` is what it writes."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    def kill(self) -> None:
        """End it the hard way and reap it."""
        self.process.kill()
        self.process.wait(STOP_LIMIT_S)

    def pause(self) -> None:
        """Stop it from running, and be sure that it has stopped."""
        self.process.send_signal(signal.SIGSTOP)
        until(lambda: Path(f"/proc/{self.pid}/stat").read_text().rpartition(") ")[2][0] == "T")

    def resume(self) -> None:
        """Let it run again."""
        self.process.send_signal(signal.SIGCONT)

    def resume_if_alive(self) -> None:
        """Let it run again, unless it is dead by now."""
        if self.process.poll() is None:
            self.resume()

    def stop(self) -> int:
        """Ask it to stop; its exit code."""
        self.process.terminate()
        return self.process.wait(STOP_LIMIT_S)

    def wait_dead(self) -> None:
        """Wait until it has died by itself."""
        self.process.wait(END_LIMIT_S)

    def count_logged(self, event: str) -> int:
        """How often it logged this event so far."""
        return self.log.read_bytes().count(f'"event": "{event}"'.encode())

    def end(self) -> None:
        """Leave nothing of it."""
        if self.process.poll() is None:
            self.kill()


class Cluster:
    """Workspaces, a store, workers and a client."""

    def __init__(
        self, redis: EmbeddedRedis, folder: Path, *, workspaces: int, settings: dict[str, str]
    ) -> None:
        """Start nothing yet."""
        self.redis = redis
        self.base = folder / "memory"
        self.base.mkdir()
        self.folders = [folder / f"w{number}" for number in range(workspaces)]
        for place in self.folders:
            place.mkdir()
        self.ids: list[WorkspaceId] = [workspace_id(str(place.resolve())) for place in self.folders]
        self.workers: list[Worker] = []
        self._folder = folder
        self._settings = settings
        self._hosts = Path(tempfile.mkdtemp(prefix="memlane-test-", dir=SHARED_MEMORY))
        self._accepted: dict[WorkspaceId, list[str]] = {workspace: [] for workspace in self.ids}
        urls = {"redis_url": redis.state_url, "broker_url": redis.broker_url}
        self.settings = Settings.model_validate(urls | settings)
        assert require_fit_redis(self.settings)  # as every web and worker does at its start
        self.jobs = open_jobs(self.settings)
        self.recorder = Recorder(redis.state_url, self.ids)
        self.state: Any = connect(redis.state_url)  # redis-py can't say that this client answers text

    @property
    def store_id(self) -> str:
        """The memory store's id."""
        return open_store(self.base).store_id

    def start_worker(self, *, host: str = "", fault: str = "", **settings: str) -> Worker:
        """Start a worker and wait until it serves.

        Args:
            host: workers of one host see each other's proof of life; each has its own unless named.
            fault: see ``tests.support.faulty_worker``.
        """
        worker = self.begin_worker(host=host, fault=fault, **settings)
        until(lambda: self._serves(worker), limit_s=START_LIMIT_S)
        return worker

    def begin_worker(self, *, host: str = "", fault: str = "", **settings: str) -> Worker:
        """Start a worker without waiting for it."""
        name = f"worker-{len(self.workers)}"
        run_dir = self._hosts / (host or name)
        run_dir.mkdir(exist_ok=True)
        given = {
            "redis_url": self.redis.state_url,
            "broker_url": self.redis.broker_url,
            "home": str(self._folder / f"home-{name}"),
            "run_dir": str(run_dir),
            "memory_dir": str(self.base),
            "workspaces": ":".join(map(str, self.folders)),
            **self._settings,
            **settings,
        }
        env = environment(self._folder, **{f"MEMLANE_{key.upper()}": value for key, value in given.items()})
        command = faulty_worker.command(fault) if fault else [sys.executable, "-P", "-m", "memlane", "worker"]
        log = self._folder / f"{name}.log"
        with log.open("wb") as stderr:
            process = subprocess.Popen(
                command, env=env, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=stderr, start_new_session=True
            )
        worker = Worker(process, log)
        self.workers.append(worker)
        return worker

    def submit(self, workspace: int = 0, content: str = "I prefer short answers.", **facts: Any) -> Task:
        """Have a task accepted; further facts are those of a submission."""
        kind: Kind = facts.pop("kind", "remember")
        submission = Submission(kind, {"content": content}, context_mode="workspace", **facts)
        task = self.jobs.submit(self.ids[workspace], submission)
        self.note_accepted(task)
        return task

    def submit_many(self, workspace: int, count: int) -> list[Task]:
        """Have several tasks accepted, each about something else."""
        return [self.submit(workspace, f"Part {new_uuid()[:8]} has number {n}.") for n in range(count)]

    def note_accepted(self, task: Task) -> None:
        """Have the checker know that a client was told of this task."""
        self._accepted[task.workspace].append(task.id)

    def find(self, task: Task) -> Task:
        """The task as its record says now."""
        found = self.jobs.find(task.workspace, task.kind, task.id, viewer=Viewer(task.client_id))
        assert found is not None, f"there is no record of {task.id}"
        return found

    def cancel(self, task: Task) -> Task | None:
        """Cancel a task."""
        return self.jobs.cancel(task.workspace, task.kind, task.id, viewer=Viewer(task.client_id))

    def wait_running(self, task: Task, *, limit_s: float = END_LIMIT_S) -> None:
        """Wait until a worker has started the task; it may have ended by then."""
        until(lambda: self.find(task).status != "queued", limit_s=limit_s)

    def wait_ended(self, tasks: Iterable[Task], *, limit_s: float = END_LIMIT_S) -> list[Task]:
        """Wait for the tasks' ends."""
        ended = []
        for task in tasks:
            self._wait_ended(task, limit_s=limit_s)
            ended.append(self.find(task))
        return ended

    def by_hand(self, workspace: int = 0) -> LaneUnderTest:
        """The lane, for a test that plays the worker."""
        return LaneUnderTest(self.state, limits_of(self.settings), self.ids[workspace])

    def work_by_hand(self) -> None:
        """Take all lanes to their end without an agent: every task completes and changes nothing."""
        store_id = self.store_id
        for number in range(len(self.ids)):
            lane = self.by_hand(number)
            while grant := lane.claim(store_id=store_id):
                assert lane.finish(grant).answer == "ok"

    def is_at_rest(self, workspace: int = 0) -> bool:
        """Whether nothing is queued or running in a lane."""
        keys = self.by_hand(workspace).keys
        return not self.state.llen(keys.pending) and not self.state.hget(keys.lane, "running")

    def doorbells(self) -> int:
        """How many doorbells wait in the broker."""
        return int(connect(self.redis.broker_url).llen(f"dramatiq:{QUEUE}"))

    def history(self, workspace: int = 0) -> LaneHistory:
        """All that is known of a lane."""
        name = self.ids[workspace]
        return self.recorder.history(name, self.base, self._accepted[name])

    def violations(self, *, lease_ms: int = 0) -> list[Violation]:
        """What the lanes have broken of what they promise; for after the work."""
        found = check([self.history(number) for number in range(len(self.ids))], lease_ms=lease_ms)
        return found + check_documents(self.base, read_commits(self.base))

    def commits(self) -> list[str]:
        """Tasks that have committed, in their order."""
        return [commit.task for commit in read_commits(self.base)]

    def close(self) -> None:
        """End all workers."""
        for worker in self.workers:
            worker.end()
        shutil.rmtree(self._hosts)

    def _wait_ended(self, task: Task, *, limit_s: float) -> None:
        until(lambda: self.find(task).is_terminal, limit_s=limit_s)

    def _serves(self, worker: Worker) -> bool:
        assert worker.process.poll() is None, worker.log.read_text()
        return worker.count_logged("worker_started") > 0


@contextmanager
def running_cluster(
    redis: EmbeddedRedis, folder: Path, *, workspaces: int = 1, **settings: str
) -> Iterator[Cluster]:
    """Offer a cluster to the body, and leave no process of it; leases are short unless set otherwise."""
    cluster = Cluster(redis, folder, workspaces=workspaces, settings=SHORT | settings)
    try:
        yield cluster
    finally:
        cluster.close()
