"""A lane whose memory has changed is given a dream, by however many processes look after it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from core.settings import load_settings
from core.workspaces import Workspaces
from events.connect import connect
from jobs.client import JobsClient
from jobs.dreams import Dreamer, DreamRules, rules_of
from jobs.store import TaskFilter
from jobs.tasks import Task
from tests.support.lane import DONE, LaneUnderTest

RULES = DreamRules(every_ms=60_000, min_changes=2)
CHANGED = replace(DONE, revision="r1")


class NoBell:
    """Stands where doorbells are rung; nobody is there to hear one."""

    def ring(self, *_: Any) -> None:
        """Nothing to do."""


@pytest.fixture
def lane(redis_url: str, tmp_path: Path) -> LaneUnderTest:
    return LaneUnderTest(connect(redis_url), workspace=Workspaces([str(tmp_path)]).primary.id)


@pytest.fixture
def dreamers(lane: LaneUnderTest, tmp_path: Path) -> list[Dreamer]:
    bell: Any = NoBell()
    workspaces = Workspaces([str(tmp_path)])
    return [Dreamer(JobsClient(lane.redis, bell, lane.limits), workspaces, rules=RULES) for _ in range(2)]


def dreams(lane: LaneUnderTest) -> tuple[Task, ...]:
    bell: Any = NoBell()
    jobs = JobsClient(lane.redis, bell, lane.limits)
    return jobs.page(lane.workspace, TaskFilter(kind="dream"), limit=10).tasks


def change(lane: LaneUnderTest, times: int) -> None:
    for _ in range(times):
        lane.submit()
        lane.finish(lane.granted(), CHANGED)


def test_one_dream_is_asked_for_however_many_processes_look(lane, dreamers):
    change(lane, 2)

    for dreamer in (*dreamers, *dreamers):
        dreamer.look()

    assert [task.status for task in dreams(lane)] == ["queued"]


def test_no_dream_follows_before_its_time(lane, dreamers):
    change(lane, 2)
    dreamers[0].look()
    lane.finish(lane.granted())
    change(lane, 2)

    dreamers[0].look()

    assert len(dreams(lane)) == 1


def test_a_full_lane_is_looked_at_again_later(lane, dreamers):
    change(lane, 2)
    for _ in range(16):
        lane.submit()

    with capture_logs() as logs:
        dreamers[0].look()

    assert [(log["event"], log["code"]) for log in logs] == [("dream_not_asked_for", "remember_queue_full")]
    assert dreams(lane) == ()


def test_without_a_pause_nobody_dreams(monkeypatch):
    assert rules_of(load_settings()) is None
    monkeypatch.setenv("MEMLANE_DREAM_EVERY", "1h")
    assert rules_of(load_settings()) == DreamRules(every_ms=3_600_000, min_changes=5)
