"""Makes each call on the real lanes and on the model, and compares everything after it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from hypothesis.stateful import RuleBasedStateMachine

from core.ids import WorkspaceId
from core.keys import LaneKeys
from jobs.intake import Gate
from jobs.store import TaskFilter, TaskStore
from jobs.tasks import Fence
from jobs.viewer import Viewer
from tests.support.lane_model import Answer, ModelLane
from tests.support.lane_model_history import violations
from tests.support.lane_model_moments import Blurred, Span, agrees
from tests.support.lane_model_records import Asked, Caps, Ending
from tests.support.lane_model_redis import DAY_MS, Holder, RealLanes, terms
from tests.support.lane_model_view import Seen, adopt, differences, expected_keys, facts, look

if TYPE_CHECKING:
    from events.envelope import Envelope

# the first two share a partition, so that one sweep meets both
WORKSPACES = tuple(WorkspaceId(f"{number:016x}") for number in (1, 30, 2))
CLIENT = "client-1"

Choice = TypeVar("Choice")


@dataclass
class Bench:
    """What all examples of one run share.

    Attributes:
        answers: how often each call gave each answer.
        blurred: examples given up because a deadline fell within the bounds of a call.
    """

    redis: Any
    caps: Caps = field(default_factory=Caps)
    answers: Counter[tuple[str, str]] = field(default_factory=Counter)
    blurred: int = 0

    @property
    def steps(self) -> int:
        """Calls made and compared."""
        return self.answers.total()


class SideBySide(RuleBasedStateMachine):
    """Three lanes and their models."""

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self.bench = bench
        bench.redis.flushdb()
        self.real = RealLanes(bench.redis, bench.caps)
        stats: dict[str, Counter[str]] = {}
        self.lanes = [
            ModelLane(workspace, bench.caps, stats.setdefault(LaneKeys(workspace).partition.stats, Counter()))
            for workspace in WORKSPACES
        ]
        self.stats = stats
        self.history: dict[WorkspaceId, list[Envelope]] = {workspace: [] for workspace in WORKSPACES}
        self.holders: dict[WorkspaceId, list[Holder]] = {workspace: [] for workspace in WORKSPACES}
        self.asked: dict[WorkspaceId, list[Asked]] = {workspace: [] for workspace in WORKSPACES}
        self.made = 0
        self.is_blurred = False
        self.clock_ms = self._look().now_ms

    def teardown(self) -> None:
        self.bench.blurred += self.is_blurred
        if self.is_blurred:
            return
        store = TaskStore(self.bench.redis)
        for lane in self.lanes:
            assert violations(self.history[lane.workspace]) == []
            wanted = TaskFilter(viewer=Viewer(CLIENT))
            first = store.page(lane.workspace, wanted, limit=3)
            rest = (
                store.page(lane.workspace, wanted, limit=200, cursor=first.next_cursor)
                if first.next_cursor
                else None
            )
            listed = [task.id for page in (first, rest) if page for task in page.tasks]
            known = [task for task in lane.tasks.values() if not task.forgotten]
            assert listed == [task.id for task in sorted(known, key=lambda task: -task.seq)]

    def ask(self, lane: ModelLane, kind: Any, text: str, client: str | None, key: str | None = None) -> Asked:
        self.made += 1
        asked = Asked(f"{kind}-{self.made:08x}-0000-4000-8000-000000000000", kind, text, client, key)
        self.asked[lane.workspace].append(asked)
        return asked

    def submit_asked(self, lane: ModelLane, asked: Asked, gate: Gate, *, lost: bool = False) -> None:
        self.step(
            "submit",
            lambda: self.real.submit(lane.workspace, asked, gate),
            lambda now: lane.submit(asked, gate, now),
            lost=lost,
        )

    def claim_lane(
        self, lane: ModelLane, claim: str, store: str, *, patient: bool = False, lost: bool = False
    ) -> None:
        grants = []

        def ask() -> Answer:
            grants.append(self.real.claim(lane.workspace, claim, store, patient=patient))
            return terms(grants[-1])

        lease_ms = DAY_MS if patient else self.bench.caps.lease_ms
        self.step(
            "claim",
            ask,
            lambda now: lane.claim(claim, store, lease_ms=lease_ms, graced=patient, now=now),
            lost=lost,
        )
        if grants and grants[-1]:
            self.holders[lane.workspace].append(Holder(lane.workspace, grants[-1], store))

    def cancel_task(self, lane: ModelLane, task: str, *, lost: bool = False) -> None:
        self.step(
            "cancel",
            lambda: self.real.cancel(lane.workspace, task),
            lambda now: lane.cancel(task, now),
            lost=lost,
        )

    def lane(self, number: int, *, busy: bool) -> ModelLane:
        """One of the lanes; ``busy``: with a task that runs."""
        if busy:
            self.put_to_work(self.lanes[number])
        return self.lanes[number]

    def put_to_work(self, lane: ModelLane) -> None:
        """Have a task run, unless the lane is held."""
        if not lane.has_work:
            self.submit_asked(lane, self.ask(lane, "remember", "one", CLIENT), "open")
        if not lane.running:
            self.claim_lane(lane, self.new_claim("worker-1"), lane.store or "store")

    def let_wait(self, lane: ModelLane) -> None:
        """Have work queued and nobody at it."""
        if lane.running:
            self.finish_run(lane, 0, Ending("completed"))
        if not lane.has_work:
            self.submit_asked(lane, self.ask(lane, "remember", "one", CLIENT), "open")

    def run_out(self, lane: ModelLane) -> None:
        """Have the lane run until nothing is left, unless it is held."""
        for _ in range(self.bench.caps.pending + 1):
            if lane.has_work:
                self.put_to_work(lane)
                self.finish_run(lane, 0, Ending("completed"))

    def new_claim(self, owner: str) -> str:
        self.made += 1
        return f"{owner}:{self.made}"

    def renew_lease(self, lane: ModelLane, pick: int, *, lost: bool = False) -> None:
        holder = self.holder(lane, pick)
        if holder:
            shown = holder.grant
            self.step(
                "renew",
                lambda: self.real.renew(holder),
                lambda now: lane.renew(shown.claim, shown.fence, now),
                lost=lost,
            )

    def refence_lease(self, lane: ModelLane, pick: int, ahead_ms: int, *, lost: bool) -> None:
        holder = self.holder(lane, pick)
        if not holder:
            return
        shown = holder.grant
        at_least = shown.fence + ahead_ms
        fence = self.step(
            "refence",
            lambda: self.real.refence(holder, at_least),
            lambda now: lane.refence(shown.claim, shown.fence, at_least, now),
            lost=lost,
        )
        if fence is not None:
            self.holders[lane.workspace].append(replace(holder, grant=replace(shown, fence=Fence(fence))))

    def drop_lane(self, lane: ModelLane, *, lost: bool) -> None:
        dropped = self.step("drop", lambda: self.real.drop(lane.workspace), lane.drop, lost=lost)
        if dropped and not self.is_blurred:
            assert self.bench.redis.keys(f"{LaneKeys(lane.workspace).base}:*") == []
            assert violations(self.history[lane.workspace]) == []
            self.history[lane.workspace].clear()

    def sweep_all(self, oldest_ms: int | None, *, lost: bool) -> None:
        self.step(
            "sweep", lambda: self.real.sweep(oldest_ms), lambda now: self.swept(oldest_ms, now), lost=lost
        )

    def prove_dead(self, owner: str, *, lost: bool = False) -> None:
        self.step(
            "expire_owner",
            lambda: self.real.expire_owner(owner),
            lambda now: sum(lane.expire_owner(owner, now) for lane in self.lanes),
            lost=lost,
        )

    def let_pass(self, lane: ModelLane, ms: int) -> None:
        ids = list(lane.tasks)
        if ms > 0:
            self.step(
                "pass_time",
                lambda: self.real.pass_time(lane.workspace, ids, ms),
                lambda now: lane.pass_time(ms, now),
            )

    def finish_run(self, lane: ModelLane, pick: int, ending: Ending, *, lost: bool = False) -> None:
        holder = self.holder(lane, pick)
        if not holder:
            return
        shown = holder.grant
        self.step(
            f"finish {ending.status}" + (f" for {ending.cause}" if ending.cause else ""),
            lambda: self.real.finish(holder, ending),
            lambda now: lane.finish(shown.task.id, shown.claim, shown.fence, ending, now=now),
            lost=lost,
        )

    def finish_run_and_claim(self, lane: ModelLane, pick: int, ending: Ending, *, lost: bool = False) -> None:
        holder = self.holder(lane, pick)
        if not holder:
            return
        shown, claim = holder.grant, self.new_claim("worker-1")
        grants = []

        def ask() -> Answer:
            answer, grant = self.real.finish_and_claim(holder, ending, claim)
            grants.append(grant)
            return answer

        def expect(now: Span) -> Answer:
            end = lane.finish(shown.task.id, shown.claim, shown.fence, ending, now=now)
            lease_ms = self.bench.caps.lease_ms
            return (*end, lane.claim(claim, holder.store, lease_ms=lease_ms, graced=False, now=now))

        self.step(f"finish {ending.status} and claim", ask, expect, lost=lost)
        if grants and grants[-1]:
            self.holders[lane.workspace].append(Holder(lane.workspace, grants[-1], holder.store))

    def holder(self, lane: ModelLane, pick: int) -> Holder | None:
        """The lane's holder mostly, else one of those before."""
        return picked(self.holders[lane.workspace], pick - 6 if pick > 6 else 0)

    def swept(self, oldest_ms: int | None, now: Span) -> Answer:
        rings = [(lane.workspace, lane.sweep(oldest_ms, now)) for lane in self.lanes]
        waiting = [lane.wait_ms for lane in self.lanes if lane.wait_ms is not None]
        oldest = min((since for since in waiting if isinstance(since, int)), default=None)
        wait: int | Span = 0 if oldest is None else Span(now.low - oldest, now.high - oldest).at_least(0)
        return (
            tuple(sorted((name, stamp) for name, stamp in rings if stamp is not None)),
            len(waiting),
            wait,
        )

    def ms_until(self, lane: ModelLane, until: str) -> int:
        moment = lane.due_ms if until == "due" else lane.lease_end_ms if lane.running else None
        return moment - self.clock_ms + 1 if isinstance(moment, int) else 0

    def step(
        self, name: str, real: Callable[[], Answer], model: Callable[[Span], Answer], *, lost: bool = False
    ) -> Answer:
        """Call both and compare all that came of it; with a ``lost`` reply, make the same call again."""
        answer = None
        for _ in range(1 + lost):
            if self.is_blurred:
                return None
            answer = real()
            self._compare(name, answer, model)
        return answer

    def _compare(self, name: str, answer: Answer, model: Callable[[Span], Answer]) -> None:
        seen = self._look()
        now = Span(self.clock_ms, seen.now_ms)
        self.clock_ms = seen.now_ms
        try:
            expected = model(now)
        except Blurred:
            self.is_blurred = True
            return
        assert agrees(expected, answer), f"{name}: expected the answer {expected}, got {answer}"
        self.bench.answers[name, _word(answer)] += 1
        problems = self._differences(seen)
        assert problems == [], f"{name} answered {answer}; {problems}"
        for lane in self.lanes:
            seen_lane = seen.lanes[lane.workspace]
            self.history[lane.workspace] += seen_lane.events
            adopt(lane, seen_lane)

    def _differences(self, seen: Seen) -> list[str]:
        found = []
        for lane in self.lanes:
            last = self._last_event(lane.workspace)
            found += differences(facts(lane, seen.lanes[lane.workspace], last))
        keys = set().union(*(expected_keys(lane) for lane in self.lanes))
        found += differences([("keys", keys, seen.record_keys), ("stats", self._stats(), seen.stats)])
        return found

    def _look(self) -> Seen:
        tasks = {lane.workspace: [*lane.tasks] for lane in self.lanes}
        for workspace, asked in self.asked.items():
            tasks[workspace] += [last.task for last in asked[-1:] if last.task not in tasks[workspace]]
        after = {workspace: self._last_event(workspace) for workspace in WORKSPACES}
        return look(self.bench.redis, tasks, after)

    def _last_event(self, workspace: WorkspaceId) -> int:
        history = self.history[workspace]
        return (history[-1].id or 0) if history else 0

    def _stats(self) -> dict[str, dict[str, str]]:
        return {
            key: {name: str(count) for name, count in counts.items()} for key, counts in self.stats.items()
        }


def picked(choices: Sequence[Choice], pick: int) -> Choice | None:
    """One of them, counted from the last."""
    return choices[-1 - pick % len(choices)] if choices else None


def _word(answer: Answer) -> str:
    """The kind of an answer, for counting."""
    if isinstance(answer, tuple):
        return str(answer[0]) if isinstance(answer[0], str) else f"{len(answer[0])} rings"
    return "a stamp" if isinstance(answer, int) and answer > 1000 else str(answer)
