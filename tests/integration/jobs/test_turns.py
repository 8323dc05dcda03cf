"""How long a lane keeps its turn: real lanes and doorbells, agents on a clock of the test's own."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from structlog.contextvars import clear_contextvars, get_contextvars

from core.ids import TaskId, WorkspaceId, new_task_id
from core.memory_calls import ForgetResult, QuotingTask, RememberResult
from core.settings import Settings
from core.workspaces import Workspaces
from events.connect import connect
from events.errors import StorageUnavailable
from jobs import actors
from jobs.actors import TURN_MS, LaneParts, LaneRules, LaneRunner
from jobs.broker import Doorbell, open_broker
from jobs.deployment import Deployment
from jobs.keeper import Keeper
from jobs.lanes import Lanes
from jobs.presence import Presence
from jobs.progress import ProgressTeller
from jobs.registry import WorkerRegistry
from jobs.store import TaskFilter, TaskStore
from jobs.tasks import Submission
from memlane.embedded import EmbeddedRedis
from tests.support.lane import DONE as SAVED
from tests.support.lane import LaneUnderTest

if TYPE_CHECKING:
    from acp_bridge.bridge import Bridge

DONE = RememberResult(summary="Saved.", files_touched=[], touched_scopes=[])


class Agents:
    """Stands at the border to agent processes: each task takes as long as the test says."""

    def __init__(self, *, task_ms: int, after: Callable[[int], None] = lambda _: None) -> None:
        """Start the clock.

        Args:
            after: called with the number of each task once it is done.
        """
        self.now_ms = 0
        self.ran = 0
        self.cancels = 0
        self.log_facts: dict[str, Any] = {}
        self._task_ms = task_ms
        self._after = after

    def run(self, *_: Any, **__: Any) -> RememberResult:
        self.ran += 1
        self.log_facts = get_contextvars()
        self.now_ms += self._task_ms
        self._after(self.ran)
        return DONE

    def cancel(self, *_: Any) -> None:
        self.cancels += 1

    def extend(self, *_: Any) -> None:
        """Nothing has a life to be extended."""


class Bench:
    """A runner on a lane that has tasks."""

    def __init__(self, redis: EmbeddedRedis, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        settings = Settings(redis_url=redis.state_url, broker_url=redis.broker_url)
        self.redis = redis
        self.doorbell = Doorbell(open_broker(settings), connect(settings.state))
        self.workspaces = Workspaces([str(folder)])
        self.lane = LaneUnderTest(connect(settings.state), workspace=self.workspaces.primary.id)
        self.monkeypatch = monkeypatch
        registry = WorkerRegistry(connect(settings.state))
        self.keeper = Keeper(self.lane.lanes, renew_ms=60_000)
        self.progress = ProgressTeller(self.lane.lanes)
        self.presence = Presence(registry, "w", facts={}, ask=lambda _: True, period_s=60.0)

    def runner(self, agents: Agents, *, tasks: int, batch: int = 64) -> LaneRunner:
        self.monkeypatch.setattr(actors, "boot_ms", lambda: agents.now_ms)
        for _ in range(tasks):
            self.lane.submit()
        parts = LaneParts(
            lanes=self.lane.lanes,
            keeper=self.keeper,
            doorbell=self.doorbell,
            presence=self.presence,
            progress=self.progress,
            deployment=Deployment(self.lane.redis, configured=None),
            bridge=cast("Bridge", agents),
            workspaces=self.workspaces,
        )
        return LaneRunner(parts, LaneRules(owner="w", store_id="s", batch=batch, child_ms=1))

    def take_turn(self, agents: Agents, *, tasks: int = 5, batch: int = 64) -> tuple[int, int]:
        """Tasks that ran in one turn, and doorbells afterwards."""
        self.runner(agents, tasks=tasks, batch=batch).run_lane(self.lane.workspace, 3)
        return agents.ran, self.doorbell.waiting()

    def close(self) -> None:
        self.keeper.close()
        self.presence.close()
        self.progress.close()


@pytest.fixture
def bench(own_redis: EmbeddedRedis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    bench = Bench(own_redis, tmp_path, monkeypatch)
    yield bench
    bench.close()


def test_short_tasks_share_a_turn_although_others_wait(bench: Bench):
    bench.doorbell.ring(bench.lane.workspace, 1)

    assert bench.take_turn(Agents(task_ms=TURN_MS // 10)) == (5, 1)


def test_a_turn_ends_with_the_task_that_makes_it_too_long_if_others_wait(bench: Bench):
    bench.doorbell.ring(bench.lane.workspace, 1)

    assert bench.take_turn(Agents(task_ms=TURN_MS)) == (1, 2)


def test_while_nobody_else_waits_long_tasks_follow_each_other(bench: Bench):
    assert bench.take_turn(Agents(task_ms=60_000)) == (5, 0)


def test_a_turn_has_at_most_so_many_tasks(bench: Bench):
    assert bench.take_turn(Agents(task_ms=0), batch=3) == (3, 1)


def test_what_is_logged_of_a_run_names_the_request_and_the_trace_it_comes_from(bench: Bench):
    clear_contextvars()  # tests that ask the application on this thread leave theirs
    agents = Agents(task_ms=0)
    asked = Submission(
        "remember",
        {"content": "x"},
        request_id="r-1",
        traceparent="00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    )
    bench.lane.intake.submit(bench.lane.workspace, new_task_id("remember"), asked)

    bench.take_turn(agents, tasks=0)

    assert agents.log_facts == {"request_id": "r-1", "trace_id": "0af7651916cd43dd8448eb211c80319c"}
    assert get_contextvars() == {}


def test_a_worker_that_stops_takes_no_further_task_and_has_the_lane_called_again(bench: Bench):
    agents = Agents(task_ms=0, after=lambda number: runner.drain() if number == 2 else None)
    runner = bench.runner(agents, tasks=5)

    runner.run_lane(bench.lane.workspace, 3)

    assert (agents.ran, bench.doorbell.waiting()) == (2, 1)
    assert runner.wait_idle(0)

    runner.run_lane(bench.lane.workspace, 4)

    assert (agents.ran, bench.doorbell.waiting()) == (2, 2)


def test_a_worker_that_has_to_stop_does_not_wait_for_a_redis_that_is_away(bench: Bench):
    def go_away(_number: int) -> None:
        bench.redis.stop()
        runner.stop_all()

    agents = Agents(task_ms=0, after=go_away)
    runner = bench.runner(agents, tasks=2)

    runner.run_lane(bench.lane.workspace, 3)  # returns, though its end could not be written

    assert (agents.ran, agents.cancels) == (1, 1)


def test_what_a_purge_names_has_lost_request_and_result_when_its_end_is_told(bench: Bench):
    lanes = (bench.lane, LaneUnderTest(bench.lane.redis))
    told = {lane.workspace: saved_secret(lane) for lane in lanes}
    bench.take_turn(purging(told, bench), tasks=1)

    for lane in lanes:
        task = told[lane.workspace]
        assert lane.redis.get(lane.keys.input(task)) is None
        record = lane.redis.hgetall(lane.keys.task(task))
        assert "hunter2" not in str(record)
        assert record["status"] == "completed"


def test_a_purge_whose_scrub_could_not_be_done_has_no_end_yet(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    runner = bench.runner(purging({bench.lane.workspace: saved_secret(bench.lane)}, bench), tasks=1)

    def unavailable(*_: Any) -> None:
        runner.stop_all()
        raise StorageUnavailable("away for a moment")

    monkeypatch.setattr(Lanes, "scrub", unavailable)
    runner.run_lane(bench.lane.workspace, 3)

    page = TaskStore(bench.lane.redis).page(bench.lane.workspace, TaskFilter(), limit=2)
    assert [task.status for task in page.tasks] == ["running", "completed"]


def purging(told: Mapping[WorkspaceId, TaskId], bench: Bench) -> Agents:
    """Agents whose purges name these tasks."""
    deployment = Deployment(bench.lane.redis, configured=None)
    named = [
        QuotingTask(lane_id=deployment.lane_of(workspace), task_id=task) for workspace, task in told.items()
    ]

    class Purging(Agents):
        def run(self, *_: Any, **_options: Any) -> Any:
            return ForgetResult(
                summary="", removed_entries=[], touched_topics=[], touched_scopes=[], purged_tasks=named
            )

    return Purging(task_ms=1)


def saved_secret(lane: LaneUnderTest) -> TaskId:
    """A task that quotes a secret and has ended."""
    task, _ = lane.submit("hunter2")
    lane.finish(lane.granted(store_id="s"), replace(SAVED, result={"summary": "Saved hunter2."}))
    return task
