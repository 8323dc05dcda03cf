"""How long a lane keeps its turn, on a clock of the test's own."""

from contextlib import contextmanager
from typing import Any, cast

import pytest

from core.acp import RememberResult
from core.ids import ClaimId, LaneId, TaskId, WorkspaceId
from core.workspaces import Workspace
from events.errors import StorageUnavailable
from jobs import actors
from jobs.actors import TURN_MS, LaneParts, LaneRules, LaneRunner
from jobs.lanes import Finished, Grant
from jobs.tasks import End, Fence, Task

W = Workspace(WorkspaceId("w1"), "/w", True)
DONE = RememberResult(summary="Saved.", files_touched=[], touched_scopes=[])


class World:
    """Everything that a runner works with: a lane of some tasks, each of which takes ``task_ms``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, tasks: int, task_ms: int, others_wait: int = 0):
        self.now_ms = 0
        self.left = tasks
        self.ran = 0
        self.task_ms = task_ms
        self.others = others_wait
        self.rings: list[int] = []
        self.runner: LaneRunner | None = None
        self.stop_after: int | None = None
        monkeypatch.setattr(actors, "boot_ms", lambda: self.now_ms)

    def by_id(self, _workspace: str) -> Workspace:
        return W

    def lane_of(self, workspace: WorkspaceId) -> LaneId:
        return LaneId(f"d/{workspace}")

    def note(self, _workspace: WorkspaceId, *, available: bool) -> None:
        assert available

    def waiting(self) -> int:
        return self.others

    def ring(self, _workspace: WorkspaceId, stamp_ms: int) -> None:
        self.rings.append(stamp_ms)

    def extend(self, *_: Any) -> None:
        raise AssertionError("nobody renews here")

    @contextmanager
    def holding(self, *_: Any):
        yield None

    def claim(self, _workspace: WorkspaceId, claim: ClaimId, *, store_id: str) -> Grant | None:
        if not self.left:
            return None
        self.left -= 1
        task = Task(TaskId("remember-1"), W.id, "remember", "running", 1, 1, attempt=1)
        return Grant("run", task, claim, Fence(1), {"content": store_id})

    def finish_if_current(self, _workspace: WorkspaceId, _grant: Grant, end: End) -> Finished:
        return Finished("ok", 7 if self.left and end.cause is None else None)

    def finish_and_claim(
        self, workspace: WorkspaceId, grant: Grant, end: End, *, claim: ClaimId, store_id: str
    ) -> tuple[Finished, Grant | None]:
        return self.finish_if_current(workspace, grant, end), self.claim(workspace, claim, store_id=store_id)

    def remember(self, *_: Any) -> RememberResult:
        self.ran += 1
        self.now_ms += self.task_ms
        if self.ran == self.stop_after and self.runner is not None:
            self.runner.drain()
        return DONE


def take_turn(world: World, *, batch: int = 64) -> World:
    parts = LaneParts(*(cast("Any", world) for _ in range(7)))
    world.runner = LaneRunner(parts, LaneRules(owner="o", store_id="s", batch=batch, child_ms=1))
    world.runner.run_lane(W.id, 3)
    return world


def test_short_tasks_share_a_turn_although_others_wait(monkeypatch):
    world = take_turn(World(monkeypatch, tasks=5, task_ms=TURN_MS // 10, others_wait=9))

    assert (world.ran, world.rings) == (5, [])


def test_a_turn_ends_with_the_task_that_makes_it_too_long_if_others_wait(monkeypatch):
    world = take_turn(World(monkeypatch, tasks=5, task_ms=TURN_MS, others_wait=1))

    assert (world.ran, world.rings) == (1, [7])


def test_while_nobody_else_waits_long_tasks_follow_each_other(monkeypatch):
    world = take_turn(World(monkeypatch, tasks=5, task_ms=60_000))

    assert (world.ran, world.rings) == (5, [])


def test_a_turn_has_at_most_so_many_tasks(monkeypatch):
    world = take_turn(World(monkeypatch, tasks=5, task_ms=0), batch=3)

    assert (world.ran, world.rings) == (3, [7])


def test_a_worker_that_stops_takes_no_further_task_and_has_the_lane_called_again(monkeypatch):
    world = World(monkeypatch, tasks=5, task_ms=0)
    world.stop_after = 2

    take_turn(world)

    assert (world.ran, world.rings) == (2, [7])
    assert world.runner is not None
    assert world.runner.wait_idle(0)


def test_a_worker_that_has_to_stop_does_not_wait_for_a_redis_that_is_away(monkeypatch):
    world = World(monkeypatch, tasks=1, task_ms=0)
    tries = 0

    def no_answer(*_: Any, **__: Any) -> None:
        nonlocal tries
        tries += 1
        assert world.runner is not None
        world.runner.stop_all()
        raise StorageUnavailable("Redis gave no answer")

    monkeypatch.setattr(world, "finish_and_claim", no_answer)

    take_turn(world)

    assert tries == 2


def test_a_doorbell_that_reaches_a_stopping_worker_is_rung_again(monkeypatch):
    world = World(monkeypatch, tasks=5, task_ms=0)
    world.stop_after = 1
    take_turn(world)
    assert world.runner is not None

    world.runner.run_lane(W.id, 4)

    assert (world.ran, world.rings) == (1, [7, 4])
