"""Command line of the benchmarks: `memlane bench NAME`, or `python -m bench NAME` in a checkout."""

import argparse
import signal
import sys
from collections.abc import Sequence

from bench.machine import machine_facts
from bench.report import Report, as_json, as_text
from bench.server import Ground, open_ground
from bench.systems import PEERS
from core.errors import MemlaneError
from core.settings import load_settings
from memlane.engine import find_engine

NAMES = ("fuzz", "lanes", "latency", "recovery", "streams", "submit")


def main(arguments: Sequence[str]) -> int:
    """Run one benchmark and print what it found.

    Returns:
        0; 1 when a measurement shows what must never be, such as two tasks of one lane out of order; 2 when
        it can't be made.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is ended
    options = _parse(arguments)
    try:
        engine = find_engine(load_settings().redis_bin)
        facts = machine_facts(engine)
        with open_ground(engine) as ground:
            report = _measure(options, ground)
    except MemlaneError as error:
        sys.stderr.write(f"bench: {error}\n")
        return 2
    sys.stdout.write((as_json if options.json else as_text)(facts, [report]))
    return 0 if report.passed else 1


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="memlane bench", description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tasks", type=int, default=3_000, help="of one measurement (lanes, submit)")
    parser.add_argument("--workspaces", default="1,10,100,1000", help="how many to load, by commas (lanes)")
    parser.add_argument(
        "--systems", default=",".join(["lanes", "dramatiq", *PEERS]), help="by commas (lanes)"
    )
    parser.add_argument(
        "--peers", default=sys.executable, metavar="PYTHON", help="interpreter that has the peers"
    )
    parser.add_argument("--fsync", choices=["always", "everysec"], default="always", help="of Redis (lanes)")
    parser.add_argument("--count", type=int, default=200, help="tasks of each variant (latency)")
    parser.add_argument(
        "--idle-s", type=float, default=10.0, help="window for the cost of idling (latency, streams)"
    )
    parser.add_argument("--crowds", default="10+10,1000+200", help="streams+sockets, by commas (streams)")
    parser.add_argument("--events", type=int, default=40, help="told to each client, twice (streams)")
    parser.add_argument("--examples", type=int, default=400, help="requests an operation (fuzz)")
    parser.add_argument("--with-dramatiq", action="store_true", help="minutes longer (recovery)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser.parse_args(arguments)


def _measure(options: argparse.Namespace, ground: Ground) -> Report:
    # imported late: a measurement sets up its process as it needs it
    if options.name == "lanes":
        from bench.throughput import Plan, measure_throughput

        workspaces = [int(word) for word in options.workspaces.split(",")]
        systems = options.systems.split(",")
        plan = Plan(options.rounds, workspaces, options.tasks, systems, options.peers, options.fsync)
        return measure_throughput(ground, plan, _tell)
    if options.name == "fuzz":
        from bench.fuzz import measure_fuzz

        return measure_fuzz(ground.folder, examples=options.examples, tell=_tell)
    if options.name == "latency":
        from bench.latency import LatencyPlan, measure_latency

        return measure_latency(ground, LatencyPlan(options.count, options.idle_s), _tell)
    if options.name == "submit":
        from bench.submission import measure_submission

        return measure_submission(ground, rounds=options.rounds, tasks=options.tasks, tell=_tell)
    if options.name == "streams":
        from bench.streams import StreamsPlan, measure_streams

        crowds = [(int(streams), int(sockets)) for streams, _, sockets in _pairs(options.crowds)]
        streams_plan = StreamsPlan(options.rounds, crowds, options.events, options.idle_s)
        return measure_streams(ground, streams_plan, _tell)
    from bench.recovery import measure_recovery

    return measure_recovery(ground, rounds=options.rounds, with_dramatiq=options.with_dramatiq, tell=_tell)


def _pairs(words: str) -> list[tuple[str, str, str]]:
    return [word.partition("+") for word in words.split(",")]


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
