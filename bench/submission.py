"""`memlane bench submit`: tasks a second that one client process gets accepted, against `dramatiq send`."""

from collections import defaultdict
from collections.abc import Callable

from bench.figures import percentile, ratio, short, spread
from bench.lane_app import Sender, open_sender
from bench.peers.dramatiq_app import make_actor
from bench.peers.load import jobs_of
from bench.report import Report
from bench.server import Ground
from bench.stopwatch import now_ns
from core.settings import load_settings

WORKSPACES = 100
COLUMNS = (
    "client, appendfsync",
    "submits/s: median (range)",
    "\N{MULTIPLICATION SIGN} dramatiq",
    "p50 ms",
    "p99 ms",
)


def measure_submission(ground: Ground, *, rounds: int, tasks: int, tell: Callable[[str], None]) -> Report:
    """Submit ``tasks`` tasks with each client, ``rounds`` times, with no worker about."""
    rates: dict[tuple[str, str], list[float]] = defaultdict(list)
    took: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(rounds):
        for fsync in ("always", "everysec"):
            for name, open_client in (("jobs.client", _lane_sender), ("dramatiq send", _dramatiq_sender)):
                ground.reset(fsync=fsync)
                times_ms = _time_all(open_client(ground), tasks)
                rates[(name, fsync)].append(len(times_ms) * 1000 / sum(times_ms))
                took[(name, fsync)] += times_ms
                tell(f"{name}, {fsync}: {rates[(name, fsync)][-1]:.0f}/s")
    rows = [
        [
            f"{name}, {fsync}",
            spread(found),
            ratio(found, rates[("dramatiq send", fsync)]),
            *(short(percentile(took[(name, fsync)], percent)) for percent in (50, 99)),
        ]
        for (name, fsync), found in rates.items()
    ]
    raw = {f"{name}/{fsync}": found for (name, fsync), found in rates.items()}
    return Report(f"Submits, one client process, {tasks} tasks, {rounds} rounds", COLUMNS, rows, raw=raw)


def _lane_sender(ground: Ground) -> Sender:
    redis = ground.redis
    settings = load_settings(redis_url=redis.state_url, broker_url=redis.broker_url)
    return open_sender(settings, ground.workspaces(WORKSPACES))


def _dramatiq_sender(ground: Ground) -> Sender:
    actor = make_actor(ground.redis.broker_url)
    return lambda workspace, seq: actor.send(workspace, seq) and None


def _time_all(send: Sender, tasks: int) -> list[float]:
    times_ms = []
    send("w0", 0)  # connects, and loads the scripts
    for workspace, seq in jobs_of(WORKSPACES, max(1, tasks // WORKSPACES)):
        start_ns = now_ns()
        send(workspace, seq + 1)
        times_ms.append((now_ns() - start_ns) / 1e6)
    return times_ms
