"""`memlane bench lanes`: no-op tasks a second, with proof of order and exclusion from the diary."""

import signal
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from bench.figures import percentile, ratio, short, spread
from bench.fleet import NotInTime, cpu_s, pause, running_fleet, wait_for
from bench.proof import Proof, check, parse_runs
from bench.report import Report
from bench.server import Ground
from bench.systems import PEERS, PROCESSES, Lanes, LoadFailed, Peer, Stage, System, dramatiq_peer, find_peer

MAX_PER_LANE = 1_000  # more would be trimmed, as records are
PEER_WORKSPACES = 100
WARM_UP_TASKS = 8
SETTLE_S = 1.0
START_LIMIT_S = 30.0
RUN_LIMIT_S = 120.0
US_PER_S = 1_000_000

COLUMNS = (
    *("system, workspaces", "tasks/s: median (range)", "\N{MULTIPLICATION SIGN} dramatiq"),
    *("CPU \N{MICRO SIGN}s/task: workers", "Redis"),
    *("inversions", "overlaps", "missing", "repeated"),
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to measure.

    Attributes:
        workspaces: how many to load, for each measurement.
        tasks: of one measurement, over all its workspaces.
        systems: names, of which those that are not installed are left out.
        peers_python: interpreter that has the peers.
        fsync: how Redis writes its log.
    """

    rounds: int
    workspaces: Sequence[int]
    tasks: int
    systems: Sequence[str]
    peers_python: str
    fsync: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement.

    Attributes:
        workers_us: CPU time that the workers spent on each task, microseconds.
        redis_us: the same of the Redis server.
    """

    proof: Proof
    workers_us: float
    redis_us: float


def measure_throughput(ground: Ground, plan: Plan, tell: Callable[[str], None]) -> Report:
    """Run all systems one after the other, ``rounds`` times."""
    contests, notes = _contests(plan)
    found: dict[tuple[str, int], list[Measured]] = defaultdict(list)
    for number in range(plan.rounds):
        for system, workspaces in contests:
            try:
                measured = _measure(ground, system, workspaces, plan=plan)
            except (NotInTime, LoadFailed) as error:
                notes.append(f"{system.name}, {workspaces}: {error}")
                continue
            found[(system.name, workspaces)].append(measured)
            tell(f"round {number + 1}: {system.name}, {workspaces}: {measured.proof.per_s:.0f}/s")
    ours = [one.proof for (name, _), all_of in found.items() if name == Lanes.name for one in all_of]
    return Report(
        title=f"No-op tasks, {PROCESSES} processes, appendfsync {plan.fsync}, {plan.rounds} rounds",
        columns=COLUMNS,
        rows=[_row(key, measured, found) for key, measured in found.items()],
        notes=notes,
        raw={
            f"{name}/{count}": [asdict(one) for one in measured] for (name, count), measured in found.items()
        },
        passed=not any(proof.inversions + proof.overlaps + proof.missing + proof.repeated for proof in ours),
    )


def tasks_each(tasks: int, workspaces: int) -> int:
    """How many tasks a workspace gets: an equal share, at least one, at most what a lane keeps."""
    return max(1, min(MAX_PER_LANE, tasks // workspaces))


def _contests(plan: Plan) -> tuple[list[tuple[System, int]], list[str]]:
    notes: list[str] = []
    contests: list[tuple[System, int]] = []
    for count in plan.workspaces:
        contests += [(system, count) for system in (Lanes(), dramatiq_peer()) if system.name in plan.systems]
    for name in PEERS:
        if name not in plan.systems:
            continue
        peer = find_peer(name, plan.peers_python)
        if not peer.is_installed():
            notes.append(f"{name} is not installed; see bench/requirements.txt")
            continue
        contests.append((peer, PEER_WORKSPACES))
        if name == "celery":  # one process on one queue is its way to keep an order
            contests.append((find_peer(name, plan.peers_python, processes=1), 1))
    return contests, notes


def _measure(ground: Ground, system: System, workspaces: int, *, plan: Plan) -> Measured:
    ground.reset(fsync=plan.fsync)
    diary = ground.folder / "diary"
    diary.unlink(missing_ok=True)
    diary.touch()
    stage = Stage(ground, ground.workspaces(workspaces), diary)
    each = tasks_each(plan.tasks, workspaces)
    expected = {folder.name: each for folder in stage.folders}
    warm = 2 if isinstance(system, Peer) else WARM_UP_TASKS
    with running_fleet(ground.folder / f"{system.name.partition(',')[0]}.log") as fleet:
        system.start(fleet, stage)
        system.warm_up(stage, warm)
        wait_for(lambda: _lines(stage) >= warm, what="the workers' start", limit_s=START_LIMIT_S)
        pause(SETTLE_S)
        fleet.signal(signal.SIGSTOP)  # all start on the same full queue, whatever their start takes
        system.load(stage, each)
        total = each * workspaces
        before_s = fleet.cpu_s(), cpu_s(ground.redis.pid)
        fleet.signal(signal.SIGCONT)
        wait_for(lambda: _lines(stage) >= warm + total, what="the last task's end", limit_s=RUN_LIMIT_S)
        workers_s, redis_s = fleet.cpu_s() - before_s[0], cpu_s(ground.redis.pid) - before_s[1]
        fleet.end(grace_s=3.0)
    proof = check(parse_runs(diary.read_text()), expected)
    return Measured(proof, workers_s * US_PER_S / total, redis_s * US_PER_S / total)


def _lines(stage: Stage) -> int:
    return stage.diary.read_bytes().count(b"\n")


def _row(
    key: tuple[str, int],
    measured: Sequence[Measured],
    found: Mapping[tuple[str, int], Sequence[Measured]],
) -> list[str]:
    name, workspaces = key
    rates = [one.proof.per_s for one in measured]
    rival = [one.proof.per_s for one in found.get(("dramatiq", workspaces), [])]
    cpu = ([one.workers_us for one in measured], [one.redis_us for one in measured])
    counts = (
        sum(getattr(one.proof, what) for one in measured)
        for what in ("inversions", "overlaps", "missing", "repeated")
    )
    medians = (short(percentile(values, 50)) for values in cpu)
    return [f"{name}, {workspaces}", spread(rates), ratio(rates, rival), *medians, *map(str, counts)]
