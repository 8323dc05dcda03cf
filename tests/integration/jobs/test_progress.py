"""How far a running task is: in its record, and as an event that nothing keeps."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from core.acp import Progress
from core.ids import ClaimId, TaskId
from events.connect import connect
from jobs.lanes import Grant, ProgressNote
from jobs.progress import ProgressTeller
from jobs.tasks import End, Fence
from memlane.embedded import EmbeddedRedis
from tests.support.lane import LaneUnderTest, limits
from tests.support.redis_server import kill_redis
from tests.support.waiting import until


def progress_of(turn: int) -> Progress:
    return Progress(task_id="", turn=turn, max_turns=6, last_tool="edit", files_touched=1)


def shown(turn: int) -> dict[str, Any]:
    return {"turn": turn, "maxTurns": 6, "lastTool": "edit", "filesTouched": 1}


def tell(lane: LaneUnderTest, grant: Grant, *, turn: int = 2) -> None:
    lane.lanes.tell_progress([ProgressNote(lane.workspace, grant, progress_of(turn))])


def running(lane: LaneUnderTest) -> Grant:
    lane.submit()
    return lane.granted()


def record_of(lane: LaneUnderTest, grant: Grant) -> dict[str, str]:
    found: dict[str, str] = lane.redis.hgetall(lane.keys.task(grant.task.id))
    return found


@contextmanager
def ears(lane: LaneUnderTest) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """Collects what is told aside while the body runs: place and client, payload."""
    heard: list[tuple[str, dict[str, Any]]] = []
    with lane.redis.pubsub(ignore_subscribe_messages=True) as pubsub:
        pubsub.subscribe(lane.keys.asides)
        pubsub.get_message(timeout=5)
        yield heard
        lane.redis.publish(lane.keys.asides, "end")
        while True:
            message = pubsub.get_message(timeout=5)
            if message is None:
                continue
            if message["data"] == "end":
                return
            place, client, payload = message["data"].split(" ", 2)
            heard.append((f"{place} {client}", json.loads(payload)))


def test_it_is_in_the_record_and_told_once_with_its_place_among_the_events(lane: LaneUnderTest):
    grant = running(lane)
    before = record_of(lane, grant)

    with ears(lane) as heard:
        tell(lane, grant)

    assert record_of(lane, grant) == before | {"progress": json.dumps(shown(2), separators=(",", ":"))}
    payload = {"taskId": grant.task.id, "kind": "remember", "status": "running", "attempt": 1}
    assert heard == [("2 ", payload | {"progress": shown(2)})]
    assert [event.type for event in lane.events()] == ["task_queued", "task_running"]


def test_the_record_says_it_while_the_task_runs(lane: LaneUnderTest):
    grant = running(lane)

    tell(lane, grant)
    tell(lane, grant, turn=3)

    task = lane.task(grant.task.id)
    assert task is not None
    assert task.progress == shown(3)


@pytest.mark.parametrize(
    "change",
    [
        {"fence": Fence(1)},
        {"claim": ClaimId("another")},
        {"task": TaskId("remember-1")},
    ],
    ids=["an old fence", "another claim", "another task"],
)
def test_who_is_not_the_holder_writes_and_tells_nothing(lane: LaneUnderTest, change: dict[str, Any]):
    grant = running(lane)
    before = record_of(lane, grant)
    if "task" in change:
        change = {"task": replace(grant.task, id=change["task"])}

    with ears(lane) as heard:
        tell(lane, replace(grant, **change))

    assert (record_of(lane, grant), heard) == (before, [])


@pytest.mark.parametrize(
    "end",
    [
        End("completed"),
        End("failed", code="remember_failed"),
        End("queued"),
        End("queued", cause="unresolved"),
    ],
)
def test_it_goes_with_the_end_of_the_run_and_a_late_word_brings_nothing_back(lane: LaneUnderTest, end: End):
    grant = running(lane)
    tell(lane, grant)

    lane.finish(grant, end)
    tell(lane, grant)

    assert "progress" not in record_of(lane, grant)


def test_it_goes_when_another_worker_takes_the_task_over(lane: LaneUnderTest):
    grant = running(lane)
    tell(lane, grant)
    lane.limits = limits(lease_ms=0)
    lane.expire_lease()

    again = lane.granted()

    assert again.task.id == grant.task.id
    assert "progress" not in record_of(lane, grant)


def test_a_task_without_progress_costs_no_command_more(lane: LaneUnderTest):
    def deletions() -> int:
        return int(lane.redis.info("commandstats").get("cmdstat_hdel", {}).get("calls", 0))

    before = deletions()

    lane.finish(running(lane), End("queued"))
    lane.finish(lane.granted())

    assert deletions() == before


class TestTeller:
    def test_a_storm_of_progress_is_told_at_its_pace(self, lane: LaneUnderTest):
        grant = running(lane)
        teller = ProgressTeller(lane.lanes, period_s=0.05)

        with ears(lane) as heard:
            for turn in range(10_000):
                teller.note(ProgressNote(lane.workspace, grant, progress_of(turn)))
            until(lambda: self.turn_of(lane, grant) == 9_999)
        teller.close()

        turns = [payload["progress"]["turn"] for _, payload in heard]
        assert turns == sorted(turns)
        assert turns[-1] == 9_999
        assert len(turns) < 100

    def test_all_tasks_are_told(self, lane: LaneUnderTest):
        lanes = [lane, LaneUnderTest(lane.redis), LaneUnderTest(lane.redis)]
        teller = ProgressTeller(lane.lanes, period_s=0.01)
        grants = [running(one) for one in lanes]

        for one, grant in zip(lanes, grants, strict=True):
            teller.note(ProgressNote(one.workspace, grant, progress_of(4)))

        for one, grant in zip(lanes, grants, strict=True):
            until(lambda: self.turn_of(one, grant) == 4)  # noqa: B023 - it is called at once
        teller.close()

    def test_a_redis_that_is_away_hurts_nobody_and_later_words_are_told(self, own_redis: EmbeddedRedis):
        lane = LaneUnderTest(connect(own_redis.state_url))
        grant = running(lane)
        teller = ProgressTeller(lane.lanes, period_s=0.01)
        kill_redis(own_redis)

        teller.note(ProgressNote(lane.workspace, grant, progress_of(1)))
        own_redis.start()
        teller.note(ProgressNote(lane.workspace, grant, progress_of(2)))

        until(lambda: self.turn_of(lane, grant) == 2)
        teller.close()

    def test_after_its_close_nothing_is_told(self, lane: LaneUnderTest):
        grant = running(lane)
        teller = ProgressTeller(lane.lanes)
        teller.close()

        teller.note(ProgressNote(lane.workspace, grant, progress_of(1)))

        assert self.turn_of(lane, grant) is None

    @staticmethod
    def turn_of(lane: LaneUnderTest, grant: Grant) -> int | None:
        task = lane.task(grant.task.id)
        return task.progress["turn"] if task is not None and task.progress is not None else None
