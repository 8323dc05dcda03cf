"""`memlane bench lanes`: no-op tasks a second, with proof of order and exclusion from the diary."""

import signal
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from bench.figures import ratio, spread
from bench.fleet import NotInTime, pause, running_fleet, wait_for
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

COLUMNS = (
    *("system, workspaces", "tasks/s: median (range)", "\N{MULTIPLICATION SIGN} dramatiq"),
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


def measure_throughput(ground: Ground, plan: Plan, tell: Callable[[str], None]) -> Report:
    """Run all systems one after the other, ``rounds`` times."""
    contests, notes = _contests(plan)
    found: dict[tuple[str, int], list[Proof]] = defaultdict(list)
    for number in range(plan.rounds):
        for system, workspaces in contests:
            try:
                proof = _measure(ground, system, workspaces, plan=plan)
            except (NotInTime, LoadFailed) as error:
                notes.append(f"{system.name}, {workspaces}: {error}")
                continue
            found[(system.name, workspaces)].append(proof)
            tell(f"round {number + 1}: {system.name}, {workspaces}: {proof.per_s:.0f}/s")
    ours = [proof for (name, _), proofs in found.items() if name == Lanes.name for proof in proofs]
    return Report(
        title=f"No-op tasks, {PROCESSES} processes, appendfsync {plan.fsync}, {plan.rounds} rounds",
        columns=COLUMNS,
        rows=[_row(key, proofs, found) for key, proofs in found.items()],
        notes=notes,
        raw={
            f"{name}/{count}": [asdict(proof) for proof in proofs] for (name, count), proofs in found.items()
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


def _measure(ground: Ground, system: System, workspaces: int, *, plan: Plan) -> Proof:
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
        fleet.signal(signal.SIGCONT)
        total = warm + each * workspaces
        wait_for(lambda: _lines(stage) >= total, what="the last task's end", limit_s=RUN_LIMIT_S)
        fleet.end(grace_s=3.0)
    return check(parse_runs(diary.read_text()), expected)


def _lines(stage: Stage) -> int:
    return stage.diary.read_bytes().count(b"\n")


def _row(
    key: tuple[str, int], proofs: Sequence[Proof], found: Mapping[tuple[str, int], Sequence[Proof]]
) -> list[str]:
    name, workspaces = key
    rates = [proof.per_s for proof in proofs]
    rival = [proof.per_s for proof in found.get(("dramatiq", workspaces), [])]
    counts = (
        sum(getattr(proof, what) for proof in proofs)
        for what in ("inversions", "overlaps", "missing", "repeated")
    )
    return [f"{name}, {workspaces}", spread(rates), ratio(rates, rival), *map(str, counts)]
