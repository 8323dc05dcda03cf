"""`memlane bench recovery`: after kill -9 of a worker, how long until its lanes start their next tasks."""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.figures import short
from bench.fleet import Fleet, NotInTime, running_fleet, wait_for
from bench.lane_app import open_sender
from bench.peers.dramatiq_app import make_actor
from bench.proof import Run, parse_runs
from bench.report import Report
from bench.server import Ground
from bench.stopwatch import now_ns
from bench.systems import Stage
from core.settings import load_settings
from events.connect import connect
from jobs.registry import WorkerRegistry

LANES = 8
LONG_HOLD_S = 600.0  # of what runs at the kill
SHORT_HOLD_S = 0.1
START_LIMIT_S = 30.0
LANE_LIMIT_S = 30.0
DRAMATIQ_LIMIT_S = 240.0
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - slot locks must lie on a tmpfs; the folder below is private

COLUMNS = (
    "after kill -9 of a worker with 8 running tasks",
    "rounds",
    "min s",
    "median s",
    "max s",
    "not recovered",
)


@dataclass(frozen=True, slots=True)
class _Scene:
    """Two fleets on one server: the one to be killed, and the one that takes over."""

    stage: Stage
    run_dirs: Path
    first: Fleet
    second: Fleet

    def start_lanes(self, fleet: Fleet, *, host: str, hold_s: float) -> None:
        """Start a worker of ours; workers of another ``host`` see none of its locks."""
        run_dir = self.run_dirs / host
        run_dir.mkdir(mode=0o700, exist_ok=True)
        command = [sys.executable, "-m", "bench.lane_app", str(self.stage.diary), "--hold-s", str(hold_s)]
        fleet.start(command, {**self.stage.lane_environment, "MEMLANE_RUN_DIR": str(run_dir)})

    def start_dramatiq(self, fleet: Fleet, *, hold_s: float) -> None:
        """Start a worker of raw dramatiq."""
        command = [sys.executable, "-m", "bench.peers.dramatiq_app", "8", "1000", str(hold_s)]
        fleet.start(command, self.stage.peer_environment)

    def runs(self) -> list[Run]:
        """What has started so far."""
        return parse_runs(self.stage.diary.read_text())


def measure_recovery(
    ground: Ground, *, rounds: int, with_dramatiq: bool, tell: Callable[[str], None]
) -> Report:
    """Kill a worker ``rounds`` times in each situation; raw dramatiq once, as it takes minutes."""
    situations: list[tuple[str, int, Callable[[_Scene], Sequence[float]]]] = [
        ("lanes, supervised restart on the same host", rounds, _same_host),
        ("lanes, idle worker on another host", rounds, _other_host),
    ]
    if with_dramatiq:
        situations.append(("raw dramatiq, idle second worker", 1, _dramatiq))
    rows, raw = [], {}
    for name, times, situation in situations:
        found: list[float] = []
        for _ in range(times):
            with _open_scene(ground) as scene:
                recovered = situation(scene)
            found += recovered
            tell(f"{name}: {', '.join(short(value) for value in recovered)} s")
        rows.append([name, str(times), *_cells(found), str(times * LANES - len(found))])
        raw[name] = found
    return Report("Recovery: kill to the next start of each lane", COLUMNS, rows, raw=raw)


def next_starts_s(runs: Sequence[Run], killed_ns: int) -> dict[str, float]:
    """Seconds from the kill to the first start after it, by workspace; absent where there was none."""
    found: dict[str, float] = {}
    for run in sorted(runs, key=lambda run: run.start_ns):
        if run.start_ns > killed_ns:
            found.setdefault(run.workspace, (run.start_ns - killed_ns) / 1e9)
    return found


def _same_host(scene: _Scene) -> Sequence[float]:
    scene.start_lanes(scene.first, host="a", hold_s=LONG_HOLD_S)
    _submit_to_lanes(scene)
    _wait_until_all_run(scene)
    killed_ns = _kill_first(scene)
    scene.start_lanes(scene.second, host="a", hold_s=SHORT_HOLD_S)  # what a supervisor does at once
    return _wait_for_next_starts(scene, killed_ns, limit_s=LANE_LIMIT_S)


def _other_host(scene: _Scene) -> Sequence[float]:
    scene.start_lanes(scene.first, host="a", hold_s=LONG_HOLD_S)
    _submit_to_lanes(scene)
    _wait_until_all_run(scene)
    scene.start_lanes(scene.second, host="b", hold_s=SHORT_HOLD_S)
    with closing(connect(scene.stage.ground.redis.state_url)) as client:
        registry = WorkerRegistry(client)
        wait_for(
            lambda: len(registry.live_ids()) == 2, what="the second worker's start", limit_s=START_LIMIT_S
        )
    return _wait_for_next_starts(scene, _kill_first(scene), limit_s=LANE_LIMIT_S)


def _dramatiq(scene: _Scene) -> Sequence[float]:
    scene.start_dramatiq(scene.first, hold_s=LONG_HOLD_S)
    actor = make_actor(scene.stage.ground.redis.broker_url)
    for folder in scene.stage.folders:
        actor.send(folder.name, 0)
    _wait_until_all_run(scene)
    scene.start_dramatiq(scene.second, hold_s=SHORT_HOLD_S)
    return _wait_for_next_starts(scene, _kill_first(scene), limit_s=DRAMATIQ_LIMIT_S)


@contextmanager
def _open_scene(ground: Ground) -> Iterator[_Scene]:
    ground.reset(fsync="always")
    diary = ground.folder / "diary"
    diary.unlink(missing_ok=True)
    diary.touch()
    stage = Stage(ground, ground.workspaces(LANES), diary, threads=LANES)
    with (
        tempfile.TemporaryDirectory(prefix="memlane-bench-", dir=SHARED_MEMORY) as run_dirs,
        running_fleet(ground.folder / "first.log") as first,
        running_fleet(ground.folder / "second.log") as second,
    ):
        yield _Scene(stage, Path(run_dirs), first, second)


def _submit_to_lanes(scene: _Scene) -> None:
    redis = scene.stage.ground.redis
    send = open_sender(
        load_settings(redis_url=redis.state_url, broker_url=redis.broker_url), scene.stage.folders
    )
    for folder in scene.stage.folders:
        send(folder.name, 0)


def _wait_until_all_run(scene: _Scene) -> None:
    wait_for(lambda: len(scene.runs()) == LANES, what="the start of all tasks", limit_s=START_LIMIT_S)


def _kill_first(scene: _Scene) -> int:
    killed_ns = now_ns()
    scene.first.kill()
    return killed_ns


def _wait_for_next_starts(scene: _Scene, killed_ns: int, *, limit_s: float) -> Sequence[float]:
    def all_started() -> bool:
        return len(next_starts_s(scene.runs(), killed_ns)) == LANES

    with suppress(NotInTime):  # what has not started by then is counted as not recovered
        wait_for(all_started, what="recovery", limit_s=limit_s)
    return list(next_starts_s(scene.runs(), killed_ns).values())


def _cells(found: Sequence[float]) -> list[str]:
    return [short(pick(found)) for pick in (min, median, max)] if found else ["-"] * 3
