"""The chaos storm: submit and cancel while workers, doorbells and Redis suffer, then check every promise.

Run in the repository's root: ``python -m bench.storm --seconds 600 --lanes 40 --seed 1``. The same seed
gives the same order of faults, not the same history: that is up to the machine. Exits with 1 on a violation.
"""

import argparse
import json
import random
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from core.clock import boot_ms
from core.errors import DependencyError
from core.ids import TaskId
from core.logs import configure_logs
from events.connect import connect, storage_errors
from events.errors import StorageUnavailable
from jobs.broker import QUEUE
from jobs.errors import QueueFull, TaskFinished
from jobs.tasks import Task
from tests.support.cluster import Cluster, Worker, running_cluster
from tests.support.redis_server import kill_redis, running_redis
from tests.support.waiting import until

WORKERS = 3
THREADS = 4
TICK_S = 0.02
FAULT_PAUSE_S = (2.0, 5.0)
STOP_S = (1.0, 9.0)  # some longer than a lease, some longer than a guard's patience
REDIS_DOWN_S = (0.2, 3.0)
LOST_DOORBELLS = 0.1
CANCELS = 0.03
RECORD_EVERY_S = 2.0
CALM_LIMIT_S = 240.0
PARTS = 25  # what the facts are about: few enough that documents are changed, not only made


@dataclass(frozen=True, slots=True)
class StormReport:
    """What happened, and what of it must not have.

    Attributes:
        failed: failed tasks by code.
        recovered: results that a later attempt found recorded.
        fenced: ends and leases that came too late and were refused.
    """

    seed: int
    seconds: float
    accepted: int
    completed: int
    failed: dict[str, int]
    cancelled: int
    kills: int
    stops: int
    redis_kills: int
    doorbells_lost: int
    recovered: int
    fenced: int
    violations: list[str] = field(default_factory=list)


class Storm:
    """One storm over one cluster; from one thread, as processes are tied to the thread that starts them."""

    def __init__(self, cluster: Cluster, *, seed: int) -> None:
        """Start the workers; each has a host of its own, and is restarted on it."""
        self._cluster = cluster
        self._seed = seed
        self._dice = random.Random(seed)  # noqa: S311 - faults, not secrets
        self._broker = connect(cluster.redis.broker_url, text=False)
        self._workers = {f"host-{number}": self._start(f"host-{number}") for number in range(WORKERS)}
        self._later: list[tuple[int, Callable[[], None]]] = []
        self._redis_is_down = False
        self._recent: list[Task] = []
        self._counts: Counter[str] = Counter()
        self._pause = threading.Event()  # never set: a wait on it is a pause

    def rage(self, seconds: float) -> None:
        """Submit, cancel and break things for so long."""
        end_ms = boot_ms() + int(seconds * 1000)
        next_fault_ms = boot_ms() + 3_000
        next_record_ms = 0
        while (now_ms := boot_ms()) < end_ms:
            self._do_what_is_due(now_ms)
            if now_ms >= next_fault_ms:
                self._dice.choice([self._kill, self._kill, self._stop, self._stop, self._kill_redis])()
                next_fault_ms = boot_ms() + self._ms(FAULT_PAUSE_S)
            if now_ms >= next_record_ms:
                self._record()
                next_record_ms = now_ms + int(RECORD_EVERY_S * 1000)
            self._use()
            self._pause.wait(TICK_S)

    def calm(self) -> None:
        """End all faults and wait until every lane is at rest."""
        while self._later:
            self._do_what_is_due(self._later[0][0])
        until(self._is_at_rest, limit_s=CALM_LIMIT_S)

    def report(self, seconds: float) -> StormReport:
        """Count and check; for after ``calm``."""
        lanes = [self._cluster.history(number) for number in range(len(self._cluster.ids))]
        ends = Counter(status for lane in lanes for status in lane.ends.values())
        codes = Counter(code for lane in lanes for code in lane.codes)
        codes.pop("task_cancelled", None)
        return StormReport(
            seed=self._seed,
            seconds=seconds,
            accepted=sum(len(lane.acceptance) for lane in lanes),
            completed=ends["completed"],
            failed=dict(codes),
            cancelled=ends["cancelled"],
            kills=self._counts["kills"],
            stops=self._counts["stops"],
            redis_kills=self._counts["redis_kills"],
            doorbells_lost=self._counts["doorbells_lost"],
            recovered=self._logged("task_recovered"),
            fenced=self._logged("task_end_fenced") + self._logged("lease_lost"),
            violations=[str(violation) for violation in self._cluster.violations()],
        )

    def _use(self) -> None:
        try:
            self._submit()
            if self._recent and self._dice.random() < CANCELS:
                self._cancel(self._dice.choice(self._recent))
            if self._dice.random() < LOST_DOORBELLS:
                self._lose_a_doorbell()
        except DependencyError:
            return  # Redis is down: what was asked may or may not have happened

    def _submit(self) -> None:
        cluster, lane = self._cluster, self._dice.randrange(len(self._cluster.ids))
        content = f"Part {self._dice.randrange(PARTS)} has number {self._dice.randrange(1000)}."
        try:
            if self._dice.random() < LOST_DOORBELLS:
                self._submit_without_a_ring(lane, content)
            else:
                self._recent = [*self._recent[-50:], cluster.submit(lane, content)]
        except QueueFull:
            return

    def _submit_without_a_ring(self, lane: int, content: str) -> None:
        by_hand = self._cluster.by_hand(lane)
        task_id, _ = by_hand.submit(content)
        self._counts["doorbells_lost"] += 1
        task = by_hand.task(TaskId(task_id))
        if task is not None:
            self._cluster.note_accepted(task)

    def _lose_a_doorbell(self) -> None:
        with storage_errors():
            lost = self._broker.lpop(f"dramatiq:{QUEUE}")
        self._counts["doorbells_lost"] += 0 if lost is None else 1

    def _cancel(self, task: Task) -> None:
        try:
            self._cluster.cancel(task)
        except TaskFinished:
            return

    def _kill(self) -> None:
        host = self._dice.choice(list(self._workers))
        self._workers[host].end()
        self._workers[host] = self._start(host)
        self._counts["kills"] += 1

    def _stop(self) -> None:
        worker = self._dice.choice(list(self._workers.values()))
        if worker.process.poll() is None:
            worker.pause()
            self._counts["stops"] += 1
            self._schedule(STOP_S, worker.resume_if_alive)

    def _kill_redis(self) -> None:
        if self._redis_is_down:
            return
        kill_redis(self._cluster.redis)
        self._redis_is_down = True
        self._counts["redis_kills"] += 1
        self._schedule(REDIS_DOWN_S, self._revive_redis)

    def _revive_redis(self) -> None:
        self._cluster.redis.start()
        self._redis_is_down = False

    def _start(self, host: str) -> Worker:
        return self._cluster.begin_worker(host=host, redis_check="warn")

    def _record(self) -> None:
        try:
            self._cluster.recorder.record()
        except StorageUnavailable:
            return

    def _schedule(self, span_s: tuple[float, float], action: Callable[[], None]) -> None:
        self._later.append((boot_ms() + self._ms(span_s), action))

    def _do_what_is_due(self, now_ms: int) -> None:
        due = [action for at_ms, action in self._later if at_ms <= now_ms]
        self._later = [later for later in self._later if later[0] > now_ms]
        for action in due:
            action()

    def _is_at_rest(self) -> bool:
        for host, worker in self._workers.items():
            if worker.process.poll() is not None:  # it started while Redis was down
                self._workers[host] = self._start(host)
        self._record()
        return all(self._cluster.is_at_rest(number) for number in range(len(self._cluster.ids)))

    def _logged(self, event: str) -> int:
        return sum(worker.count_logged(event) for worker in self._cluster.workers)

    def _ms(self, span_s: tuple[float, float]) -> int:
        return int(self._dice.uniform(*span_s) * 1000)


def run_storm(folder: Path, *, seconds: float, lanes: int, seed: int) -> StormReport:
    """Let a storm rage in a folder, wait for calm, and say what happened."""
    with (
        running_redis(folder / "redis") as redis,
        running_cluster(redis, folder, workspaces=lanes, threads=str(THREADS)) as cluster,
    ):
        storm = Storm(cluster, seed=seed)
        storm.rage(seconds)
        storm.calm()
        return storm.report(seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a storm and print what happened; 1 when a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m bench.storm", description="Chaos storm over lanes.")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--lanes", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    configure_logs("error", process="storm")
    with tempfile.TemporaryDirectory(prefix="memlane-storm-") as folder:
        report = run_storm(
            Path(folder).resolve(), seconds=options.seconds, lanes=options.lanes, seed=options.seed
        )
    facts = asdict(report)
    for name, value in facts.items():
        sys.stdout.write(f"{name:16} {value}\n")
    sys.stdout.write(json.dumps(facts) + "\n")
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
