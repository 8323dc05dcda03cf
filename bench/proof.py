"""Reads a diary: how fast tasks ran, and whether each workspace's ran in order, alone and once."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one task; times in nanoseconds of one clock."""

    workspace: str
    seq: int
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Proof:
    """What a diary shows.

    Attributes:
        inversions: runs that started later than one of a later task of their workspace.
        overlaps: runs that started before an earlier one of their workspace had ended.
        missing: tasks that never ran.
        repeated: runs beyond the first of their task.
        per_s: tasks a second from the first start to the last end; 0 without runs.
    """

    tasks: int
    inversions: int
    overlaps: int
    missing: int
    repeated: int
    per_s: float


def parse_runs(text: str) -> list[Run]:
    """Read a diary's lines; a last line without its end is left out (its writer was killed)."""
    whole, _, _ = text.rpartition("\n")
    rows = (line.split() for line in whole.splitlines())
    return [Run(workspace, int(seq), int(start), int(end)) for workspace, seq, start, end in rows]


def check(runs: Sequence[Run], expected: Mapping[str, int]) -> Proof:
    """Hold a diary against what was submitted.

    Args:
        expected: number of tasks by workspace; runs of other workspaces are passed over.
    """
    wanted = [run for run in runs if run.workspace in expected]
    lanes = _by_workspace(wanted)
    distinct = {(run.workspace, run.seq) for run in wanted}
    total = sum(expected.values())
    return Proof(
        tasks=total,
        inversions=sum(_count_inversions(lane) for lane in lanes.values()),
        overlaps=sum(_count_overlaps(lane) for lane in lanes.values()),
        missing=total - len(distinct),
        repeated=len(wanted) - len(distinct),
        per_s=_rate(wanted),
    )


def _by_workspace(runs: Iterable[Run]) -> Mapping[str, list[Run]]:
    lanes: dict[str, list[Run]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: run.start_ns):
        lanes[run.workspace].append(run)
    return lanes


def _count_inversions(lane: Iterable[Run]) -> int:
    found, highest = 0, -1
    for run in lane:
        found += run.seq < highest
        highest = max(highest, run.seq)
    return found


def _count_overlaps(lane: Iterable[Run]) -> int:
    found, latest_end = 0, 0
    for run in lane:
        found += run.start_ns < latest_end
        latest_end = max(latest_end, run.end_ns)
    return found


def _rate(runs: Sequence[Run]) -> float:
    if not runs:
        return 0.0
    took_ns = max(run.end_ns for run in runs) - min(run.start_ns for run in runs)
    return len(runs) * NS_PER_S / took_ns if took_ns else 0.0
