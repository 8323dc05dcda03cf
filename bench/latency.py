"""`memlane bench latency`: from submit to the task's body on an idle worker, and what idling costs."""

import random
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.figures import percentile, short
from bench.fleet import Fleet, cpu_s, pause, running_fleet, wait_for
from bench.lane_app import Sender, open_sender
from bench.peers.dramatiq_app import make_actor
from bench.proof import parse_runs
from bench.report import Report
from bench.server import Ground
from bench.stopwatch import now_ns
from bench.systems import Stage
from core.settings import load_settings

GAP_S = (0.12, 0.35)
WORKSPACES = 8
START_LIMIT_S = 30.0
SETTLE_S = 1.5
NS_PER_MS = 1e6
FIRST = 1_000_000  # numbers from here on only show that the worker is up

COLUMNS = (
    *("system", "p50 ms", "p90 ms", "p99 ms", "max ms"),
    *("idle CPU worker %", "idle CPU Redis %", "CPU per task worker ms"),
)


@dataclass(frozen=True, slots=True)
class LatencyPlan:
    """What to measure.

    Attributes:
        count: tasks, sent one every 0.12 to 0.35 s.
        idle_s: window in which the cost of idling is measured, seconds.
    """

    count: int
    idle_s: float


@dataclass(frozen=True, slots=True)
class _Variant:
    name: str
    command: Sequence[str]
    is_ours: bool


@dataclass(frozen=True, slots=True)
class _Found:
    waits_ms: Sequence[float]
    worker_percent: float
    redis_percent: float
    task_cpu_ms: float


def measure_latency(ground: Ground, plan: LatencyPlan, tell: Callable[[str], None]) -> Report:
    """Measure each variant once, one after the other."""
    found = {}
    for variant in _variants(ground):
        found[variant.name] = _measure(ground, variant, plan)
        tell(f"{variant.name}: p50 {percentile(found[variant.name].waits_ms, 50):.1f} ms")
    return Report(
        title=f"Submit to start, one every 0.12 to 0.35 s, {plan.count} tasks, one worker of 8 threads",
        columns=COLUMNS,
        rows=[_row(name, facts) for name, facts in found.items()],
        raw={name: list(facts.waits_ms) for name, facts in found.items()},
    )


def _variants(ground: Ground) -> list[_Variant]:
    lanes = [sys.executable, "-m", "bench.lane_app", str(ground.folder / "diary")]
    raw = [sys.executable, "-m", "bench.peers.dramatiq_app", "8"]
    return [
        _Variant("lanes, woken", lanes, is_ours=True),
        _Variant("lanes, polling 100 ms", [*lanes, "--poll"], is_ours=True),
        _Variant("dramatiq, 100 ms", [*raw, "100"], is_ours=False),
        _Variant("dramatiq, 1000 ms (default)", [*raw, "1000"], is_ours=False),
    ]


def _measure(ground: Ground, variant: _Variant, plan: LatencyPlan) -> _Found:
    ground.reset(fsync="always")
    diary = ground.folder / "diary"
    diary.unlink(missing_ok=True)
    diary.touch()
    stage = Stage(ground, ground.workspaces(WORKSPACES), diary, threads=8)
    with running_fleet(ground.folder / "latency.log") as fleet:
        environment = stage.lane_environment if variant.is_ours else stage.peer_environment
        pid = fleet.start(variant.command, environment)
        send = _sender(stage, variant)
        send("w0", FIRST)
        wait_for(lambda: bool(diary.read_bytes()), what="the worker's start", limit_s=START_LIMIT_S)
        pause(SETTLE_S)
        worker_percent, redis_percent = _idle_cost(pid, ground.redis.pid, plan.idle_s)
        before_s = cpu_s(pid)
        sent = _send_paced(send, plan.count)
        wait_for(
            lambda: diary.read_bytes().count(b"\n") > plan.count, what="the last task", limit_s=START_LIMIT_S
        )
        task_cpu_ms = (cpu_s(pid) - before_s) * 1000 / plan.count
        _end(fleet)
    waits = [
        (run.start_ns - sent[run.seq]) / NS_PER_MS for run in parse_runs(diary.read_text()) if run.seq < FIRST
    ]
    return _Found(waits, worker_percent, redis_percent, task_cpu_ms)


def _sender(stage: Stage, variant: _Variant) -> Sender:
    redis = stage.ground.redis
    if variant.is_ours:
        settings = load_settings(redis_url=redis.state_url, broker_url=redis.broker_url)
        return open_sender(settings, stage.folders)
    actor = make_actor(redis.broker_url)
    return lambda workspace, seq: actor.send(workspace, seq) and None


def _send_paced(send: Sender, count: int) -> dict[int, int]:
    rhythm = random.Random(7)  # noqa: S311 - the same rhythm for every system
    sent: dict[int, int] = {}
    for seq in range(count):
        pause(rhythm.uniform(*GAP_S))
        sent[seq] = now_ns()
        send(f"w{seq % WORKSPACES}", seq)
    return sent


def _idle_cost(worker: int, redis: int, window_s: float) -> tuple[float, float]:
    before = cpu_s(worker), cpu_s(redis)
    start_ns = now_ns()
    pause(window_s)
    took_s = (now_ns() - start_ns) / 1e9
    return (cpu_s(worker) - before[0]) / took_s * 100, (cpu_s(redis) - before[1]) / took_s * 100


def _end(fleet: Fleet) -> None:
    fleet.signal(signal.SIGTERM)
    fleet.end(grace_s=3.0)


def _row(name: str, found: _Found) -> list[str]:
    waits = found.waits_ms
    return [
        name,
        *(short(percentile(waits, percent)) for percent in (50, 90, 99, 100)),
        short(found.worker_percent),
        short(found.redis_percent),
        short(found.task_cpu_ms),
    ]
