"""Lanes on Redis under Sentinel: what a failover under load costs, and that nothing confirmed is lost.

Run in the repository's root: ``python -m bench.sentinel``. Needs Debian's redis-server and redis-sentinel.
Exits with 1 when a task was lost that a replica had confirmed (WAIT 1), or an invariant did not hold.
"""

import argparse
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.figures import short
from bench.fleet import pause, wait_for
from bench.machine import machine_facts
from bench.proof import Run, check
from bench.report import Report, as_json, as_text
from bench.sentinel_load import LANES, History, Load, lanes_of
from bench.sentinel_servers import DOWN_AFTER_MS, running_servers
from bench.stopwatch import now_ns
from core.errors import MemlaneError
from memlane.engine import find_engine

BEFORE_S = 4.0
PARTED_S = 0.3
AFTER_S = 4.0
FAILOVER_LIMIT_S = 60.0
CALM_LIMIT_S = 60.0
MAX_OUTAGE_MS = DOWN_AFTER_MS + 3_000

COLUMNS = (
    *("kill -9 of the primary", "outage ms", "accept gap ms", "accepted", "lost", "run twice", "unconfirmed"),
    *("inversions", "overlaps", "fences twice", "new epochs", "event gap", "event ids twice"),
)


@dataclass(frozen=True, slots=True)
class Situation:
    """One failover.

    Attributes:
        parted: the replica is cut off 0.3 s before the kill: the primary dies with what only it has.
    """

    with_wait: bool
    parted: bool

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{'replica 0.3 s behind' if self.parted else 'replica in step'}, {self.confirmation}"

    @property
    def confirmation(self) -> str:
        """What a client waits for."""
        return "WAIT 1" if self.with_wait else "no WAIT"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a failover did.

    Attributes:
        outage_ms: longest time without an answer to any submit.
        accept_gap_ms: the same for acceptances; with WAIT it lasts until there is a replica.
        run_twice: tasks that ran more than once; a real child knows what it has committed.
        inversions: among first runs.
        epochs: lanes whose events got a new epoch.
        smallest_gap: of event numbers at the failover; None when no subscriber saw one.
    """

    outage_ms: float
    accept_gap_ms: float
    accepted: int
    lost: int
    run_twice: int
    unconfirmed: int
    inversions: int
    overlaps: int
    fences_twice: int
    epochs: int
    smallest_gap: int | None
    ids_twice: int

    def broken(self, situation: Situation) -> bool:
        """Whether something was seen that must never be."""
        lost = self.lost if situation.with_wait else 0
        return bool(lost or self.fences_twice or self.ids_twice)


def main(arguments: Sequence[str]) -> int:
    """Play all four situations and print what happened."""
    parser = argparse.ArgumentParser(prog="python -m bench.sentinel", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    options = parser.parse_args(arguments)
    situations = [Situation(with_wait, parted) for parted in (False, True) for with_wait in (False, True)]
    try:
        verdicts = [_play(situation) for situation in situations]
        facts = machine_facts(find_engine(Path("/usr/bin/redis-server")))
    except MemlaneError as error:
        sys.stderr.write(f"sentinel: {error}\n")
        return 2
    report = Report(
        title=f"Failover by Sentinel, down-after {DOWN_AFTER_MS} ms, {LANES} lanes",
        columns=COLUMNS,
        rows=[_row(situation, verdict) for situation, verdict in zip(situations, verdicts, strict=True)],
        notes=[f"outage target: {MAX_OUTAGE_MS} ms (down-after + 3 s)"],
        passed=not any(
            verdict.broken(situation) for situation, verdict in zip(situations, verdicts, strict=True)
        ),
    )
    sys.stdout.write((as_json if options.json else as_text)(facts, [report]))
    return 0 if report.passed else 1


def _play(situation: Situation) -> Verdict:
    sys.stderr.write(f"{situation.name}\n")
    with (
        tempfile.TemporaryDirectory(prefix="memlane-sentinel-") as name,
        running_servers(Path(name)) as servers,
    ):
        load = Load(servers, lanes_of(name), with_wait=situation.with_wait)
        with load.running():
            pause(BEFORE_S)
            if situation.parted:
                servers.part_replica()
                pause(PARTED_S)
            killed_ns = now_ns()
            servers.primary.kill()
            servers.replica.signal(signal.SIGCONT)
            wait_for(
                lambda: servers.master() == ("127.0.0.1", servers.ports[1]),
                what="the failover",
                limit_s=FAILOVER_LIMIT_S,
            )
            servers.revive_first()
            wait_for(servers.has_replica, what="the new replica", limit_s=FAILOVER_LIMIT_S)
            pause(AFTER_S)
            load.stop_clients()
            wait_for(load.is_quiet, what="the end of all tasks", limit_s=CALM_LIMIT_S)
        return judge(load.history, killed_ns=killed_ns, lost=load.lost())


def judge(history: History, *, killed_ns: int, lost: int) -> Verdict:
    """Read a history.

    Args:
        lost: accepted tasks of which there is no record any more.
    """
    first_runs = first_of_each(history.runs)
    expected = Counter(run.workspace for run in first_runs)
    times = Counter((run.workspace, run.seq) for run in history.runs)
    return Verdict(
        outage_ms=gap_ms(history.answered, killed_ns),
        accept_gap_ms=gap_ms([at_ns for _, _, at_ns in history.accepted], killed_ns),
        accepted=len(history.accepted),
        lost=lost,
        run_twice=sum(count > 1 for count in times.values()),
        unconfirmed=len(history.unconfirmed),
        inversions=check(first_runs, expected).inversions,
        overlaps=check(history.runs, expected).overlaps,
        fences_twice=sum(len(claims) > 1 for claims in history.fences.values()),
        epochs=sum(len(epochs) > 1 for epochs in history.epochs.values()),
        smallest_gap=min(history.gaps, default=None),
        ids_twice=len(history.reused),
    )


def first_of_each(runs: Sequence[Run]) -> list[Run]:
    """Each task's first run, in the order of start."""
    first: dict[tuple[str, int], Run] = {}
    for run in sorted(runs, key=lambda run: run.start_ns):
        first.setdefault((run.workspace, run.seq), run)
    return list(first.values())


def gap_ms(times_ns: Sequence[int], killed_ns: int) -> float:
    """From the last moment before the kill to the first one after it, milliseconds; 0 without either."""
    before = [at_ns for at_ns in times_ns if at_ns <= killed_ns]
    # what was answered within 100 ms after the kill was on its way already
    after = [at_ns for at_ns in times_ns if at_ns > killed_ns + 100_000_000]
    return (min(after) - max(before)) / 1e6 if before and after else 0.0


def _row(situation: Situation, verdict: Verdict) -> list[str]:
    gap = "-" if verdict.smallest_gap is None else str(verdict.smallest_gap)
    counts = [
        *(verdict.accepted, verdict.lost, verdict.run_twice, verdict.unconfirmed, verdict.inversions),
        *(verdict.overlaps, verdict.fences_twice),
    ]
    return [
        situation.name,
        short(verdict.outage_ms),
        short(verdict.accept_gap_ms),
        *map(str, counts),
        f"{verdict.epochs}/{LANES}",
        gap,
        str(verdict.ids_twice),
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
