"""`memlane bench streams`: cost of event streams, how soon readers hear, what stuck ones do to others."""

import json
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.figures import percentile, ratio, short, spread
from bench.fleet import Fleet, pause, running_fleet, wait_for
from bench.report import Report
from bench.server import Ground
from bench.stopwatch import now_ns
from bench.stream_servers import Ours, StreamServer, SubscriptionEach, running_server
from core.ids import workspace_id
from core.settings import load_settings
from jobs.client import JobsClient, open_jobs
from jobs.tasks import Submission
from jobs.viewer import Viewer

GAP_S = 0.5
LOG_EVENTS = 1_000  # there before anybody comes: what a stuck client is sent at once
WARM = 20
SETTLE_S = 2.0
OPEN_LIMIT_S = 120.0
TOLD_LIMIT_S = 60.0
NS_PER_MS = 1e6

COLUMNS = (
    "streams + sockets, server",
    *("KiB a stream", "KiB a socket", "idle CPU %", "CPU a delivery \N{MICRO SIGN}s"),
    *("SSE p50 ms", "SSE p99 ms", "WS p50 ms", "WS p99 ms"),
    *("all p99 ms", "beside two stuck", "\N{MULTIPLICATION SIGN} without"),
)

Arrivals = Mapping[int, Sequence[int]]
"""For each event's id, when it came to each client, nanoseconds of the stopwatch."""


@dataclass(frozen=True, slots=True)
class StreamsPlan:
    """What to measure.

    Attributes:
        crowds: how many streams and how many sockets are open at a time.
        events: how many are told with two stuck clients beside the others, and how many without.
        idle_s: window in which the cost of idling is measured, seconds.
    """

    rounds: int
    crowds: Sequence[tuple[int, int]]
    events: int
    idle_s: float


@dataclass(slots=True)
class _Found:
    """Figures of one server and crowd, one of each a round."""

    stream_kib: list[float] = field(default_factory=list)
    socket_kib: list[float] = field(default_factory=list)
    idle_percent: list[float] = field(default_factory=list)
    delivery_us: list[float] = field(default_factory=list)
    waits_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    calm_p99_ms: list[float] = field(default_factory=list)
    stuck_p99_ms: list[float] = field(default_factory=list)


class _Publisher:
    """Makes events as clients do: each submit and each cancel of a task is one."""

    def __init__(self, jobs: JobsClient, folder: Path) -> None:
        self._jobs = jobs
        self._workspace = workspace_id(str(folder))
        self._queued: str | None = None
        self.sent_ns: list[int] = []

    def publish(self, count: int, *, gap_s: float) -> range:
        """Make events, one every ``gap_s`` seconds; their ids."""
        first = len(self.sent_ns) + 1
        for _ in range(count):
            pause(gap_s)
            self.sent_ns.append(now_ns())
            self._make()
        return range(first, first + count)

    def _make(self) -> None:
        if self._queued is None:
            submission = Submission("remember", {"content": "x"}, context_mode="workspace")
            self._queued = self._jobs.submit(self._workspace, submission).id
        else:
            self._jobs.cancel(self._workspace, "remember", self._queued, viewer=Viewer())
            self._queued = None


class _Gate:
    """Lets crowds in at one server; each is a process with a folder of its own."""

    def __init__(self, folder: Path, port: int) -> None:
        self._folder = folder
        self._port = port
        self._count = 0

    @contextmanager
    def crowd(self, kind: str, count: int, *options: str) -> Iterator[Callable[[], Arrivals]]:
        """Open clients for the body; what it gets ends them and tells what came to them."""
        self._count += 1
        place = self._folder / f"crowd-{self._count}"
        place.mkdir()
        words = [str(self._port), kind, str(count), str(place), *options]
        with running_fleet(place / "log") as fleet:
            fleet.start([sys.executable, "-m", "bench.crowd", *words], {})
            wait_for((place / "open").exists, what=f"{place}/open", limit_s=OPEN_LIMIT_S)
            yield lambda: _ended(fleet, place / "arrivals.json")


def measure_streams(ground: Ground, plan: StreamsPlan, tell: Callable[[str], None]) -> Report:
    """Measure each server with each crowd in turn, for several rounds."""
    found: dict[str, _Found] = defaultdict(_Found)
    for _ in range(plan.rounds):
        for streams, sockets in plan.crowds:
            for server in (Ours(), SubscriptionEach()):
                name = f"{streams} + {sockets}, {server.name}"
                _Round(ground, plan, found[name]).run(server, streams, sockets)
                tell(f"{name}: p99 {found[name].calm_p99_ms[-1]:.1f} ms")
    return Report(
        title=f"Event streams of one web process, {plan.events} events, {plan.rounds} rounds",
        columns=COLUMNS,
        rows=[_row(name, facts) for name, facts in found.items()],
        notes=["from before the request that makes an event until its bytes are read; fsync always"],
        raw={name: {"calm": facts.calm_p99_ms, "stuck": facts.stuck_p99_ms} for name, facts in found.items()},
    )


class _Round:
    """One server, one crowd, from the start to the end of both."""

    def __init__(self, ground: Ground, plan: StreamsPlan, found: _Found) -> None:
        self._ground = ground
        self._plan = plan
        self._found = found

    def run(self, server: StreamServer, streams: int, sockets: int) -> None:
        """Add one of each figure to what was found."""
        self._ground.reset(fsync="always")
        (folder,) = self._ground.workspaces(1)
        redis = self._ground.redis
        settings = load_settings(redis_url=redis.state_url, broker_url=redis.broker_url)
        publisher = _Publisher(open_jobs(settings), folder)
        publisher.publish(LOG_EVENTS, gap_s=0)
        with running_server(server, self._ground, folder) as (fleet, port):
            gate = _Gate(_fresh(self._ground.folder), port)
            with gate.crowd("stream", WARM), gate.crowd("socket", WARM):
                pause(SETTLE_S)
            pause(SETTLE_S)
            self._visit(fleet, gate, publisher, streams=streams, sockets=sockets)

    def _visit(self, fleet: Fleet, gate: _Gate, publisher: _Publisher, *, streams: int, sockets: int) -> None:
        before = fleet.rss_kib()
        with gate.crowd("stream", streams) as end_streams:
            pause(SETTLE_S)
            between = fleet.rss_kib()
            with gate.crowd("socket", sockets) as end_sockets:
                pause(SETTLE_S)
                self._found.stream_kib.append((between - before) / streams)
                self._found.socket_kib.append((fleet.rss_kib() - between) / sockets)
                self._found.idle_percent.append(_busy_s(fleet, self._plan.idle_s) * 100 / self._plan.idle_s)
                calm = self._publish_calmly(fleet, publisher, streams + sockets)
                with gate.crowd("stream", 1, "--stuck"), gate.crowd("socket", 1, "--stuck"):
                    pause(SETTLE_S)
                    beside = publisher.publish(self._plan.events, gap_s=GAP_S)
                    pause(SETTLE_S)
                arrivals = {"SSE": end_streams(), "WS": end_sockets()}
        self._sum_up(publisher.sent_ns, arrivals, calm=calm, beside=beside)

    def _publish_calmly(self, fleet: Fleet, publisher: _Publisher, readers: int) -> range:
        before_s = fleet.cpu_s()
        told = publisher.publish(self._plan.events, gap_s=GAP_S)
        pause(SETTLE_S)
        self._found.delivery_us.append((fleet.cpu_s() - before_s) * 1e6 / len(told) / readers)
        return told

    def _sum_up(
        self, sent_ns: Sequence[int], arrivals: Mapping[str, Arrivals], *, calm: range, beside: range
    ) -> None:
        for kind, came in arrivals.items():
            self._found.waits_ms[kind] += _waits_ms(sent_ns, came, calm)
        for told, p99 in ((calm, self._found.calm_p99_ms), (beside, self._found.stuck_p99_ms)):
            waits = [wait for came in arrivals.values() for wait in _waits_ms(sent_ns, came, told)]
            p99.append(percentile(waits, 99))


def _ended(fleet: Fleet, told: Path) -> Arrivals:
    fleet.signal(signal.SIGTERM)
    wait_for(told.exists, what=str(told), limit_s=TOLD_LIMIT_S)
    return {int(event_id): arrivals for event_id, arrivals in json.loads(told.read_text()).items()}


def _fresh(folder: Path) -> Path:
    count = len(list(folder.glob("visit-*")))
    place = folder / f"visit-{count}"
    place.mkdir()
    return place


def _busy_s(fleet: Fleet, window_s: float) -> float:
    before_s = fleet.cpu_s()
    pause(window_s)
    return fleet.cpu_s() - before_s


def _waits_ms(sent_ns: Sequence[int], came: Arrivals, ids: Iterable[int]) -> list[float]:
    return [
        (arrived - sent_ns[event_id - 1]) / NS_PER_MS
        for event_id in ids
        for arrived in came.get(event_id, ())
    ]


def _row(name: str, found: _Found) -> list[str]:
    return [
        name,
        *(spread(values) for values in (found.stream_kib, found.socket_kib)),
        *(spread(values) for values in (found.idle_percent, found.delivery_us)),
        *(short(percentile(found.waits_ms[kind], percent)) for kind in ("SSE", "WS") for percent in (50, 99)),
        spread(found.calm_p99_ms),
        spread(found.stuck_p99_ms),
        ratio(found.stuck_p99_ms, found.calm_p99_ms),
    ]
