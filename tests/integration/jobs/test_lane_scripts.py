"""Each lane script on a real server: one test for each answer it can give."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from core.clock import rfc3339
from core.ids import TaskId, new_task_id
from events.connect import connect
from jobs.errors import QueueFull
from jobs.lanes import Lease
from jobs.limits import MAX_PENDING
from jobs.scripts import source
from jobs.tasks import End
from tests.support.lane import DONE, LaneUnderTest, limits


class TestSubmit:
    def test_accepts_a_task_at_the_end_of_the_lane(self, lane: LaneUnderTest):
        first, accepted = lane.submit("one")
        second, later = lane.submit("two")

        assert (accepted.fresh, accepted.position, later.position) == (True, 1, 2)
        task = lane.task(second)
        assert task is not None
        assert (task.status, task.position, task.attempt, task.context_mode) == ("queued", 2, 0, "workspace")
        assert task.created_ms == task.updated_ms == later.accepted_ms
        assert lane.redis.lrange(lane.keys.pending, 0, -1)[0].endswith(first)

    def test_asks_for_one_doorbell_while_the_lane_waits_for_a_worker(self, lane: LaneUnderTest):
        _, first = lane.submit()
        _, second = lane.submit()

        assert first.doorbell_ms == first.accepted_ms
        assert second.doorbell_ms is None

    def test_repeated_with_the_same_id_changes_nothing(self, lane: LaneUnderTest):
        task, _ = lane.submit("one")

        _, repeated = lane.submit("another text", task=task)

        assert not repeated.fresh
        assert lane.redis.llen(lane.keys.pending) == 1
        assert json.loads(lane.redis.get(lane.keys.input(task)) or "")["content"] == "one"

    def test_refuses_the_seventeenth_unfinished_task(self, lane: LaneUnderTest):
        for _ in range(MAX_PENDING):
            lane.submit()
        lane.granted()  # the running task still counts

        with pytest.raises(QueueFull) as refused:
            lane.submit()

        assert str(refused.value) == "Workspace memory remember queue is full."
        assert refused.value.retry_after_s == 5
        assert lane.redis.zcard(lane.keys.index) == MAX_PENDING

    def test_accepts_again_after_one_task_has_ended(self, lane: LaneUnderTest):
        for _ in range(MAX_PENDING):
            lane.submit()
        lane.finish(lane.granted())

        _, accepted = lane.submit()

        assert accepted.position == MAX_PENDING

    def test_fifty_clients_at_once_get_exactly_sixteen_places(self, lane: LaneUnderTest):
        def attempt(_: int) -> bool:
            try:
                lane.submit()
            except QueueFull:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(attempt, range(50))) == MAX_PENDING

    def test_keeps_at_most_a_thousand_records_and_drops_the_first_ended(self, lane: LaneUnderTest):
        first, _ = lane.submit()
        lane.finish(lane.granted())
        with lane.redis.pipeline() as pipe:  # 999 ended records more, put there directly
            for number in range(999):
                pipe.zadd(lane.keys.index, {f"old-{number}": number + 2})
                pipe.zadd(lane.keys.done, {f"old-{number}": 4_000_000_000_000 + number})
            pipe.execute()

        newest, _ = lane.submit()

        assert lane.redis.zcard(lane.keys.index) == 1000
        assert lane.task(first) is None
        assert lane.task(newest) is not None

    def test_never_trims_an_unfinished_task(self, lane: LaneUnderTest):
        tasks = [lane.submit()[0] for _ in range(3)]
        with lane.redis.pipeline() as pipe:
            for number in range(1100):
                pipe.zadd(lane.keys.index, {f"lost-{number}": number + 10})
            pipe.execute()

        lane.submit()

        assert all(lane.task(task) is not None for task in tasks)

    def test_drops_records_past_their_life(self, lane: LaneUnderTest):
        old, _ = lane.submit()
        lane.finish(lane.granted())
        lane.redis.zadd(lane.keys.done, {old: 1})

        lane.submit()

        assert lane.task(old) is None
        assert lane.redis.zscore(lane.keys.index, old) is None
        assert lane.redis.exists(lane.keys.input(old)) == 0


class TestClaim:
    def test_grants_the_head_with_a_token_that_grows(self, lane: LaneUnderTest):
        first, _ = lane.submit("one")
        second, _ = lane.submit("two")

        grant = lane.granted()
        lane.finish(grant)
        next_grant = lane.granted()

        assert (grant.mode, grant.task.id, grant.task.attempt) == ("run", first, 1)
        assert grant.input == {"content": "one"}
        assert next_grant.task.id == second
        assert next_grant.fence > grant.fence

    def test_gives_nothing_while_another_lease_lives(self, lane: LaneUnderTest):
        lane.submit()
        lane.submit()
        lane.granted()
        lane.redis.hset(lane.keys.lane, "recovered", 1)  # no grace after a restart stands in for the lease

        assert lane.claim() is None
        assert lane.redis.llen(lane.keys.pending) == 1

    def test_gives_the_same_grant_again_to_the_same_claim(self, lane: LaneUnderTest):
        lane.submit()

        once, again = lane.granted(claim="mine"), lane.granted(claim="mine")

        assert (once.fence, once.task.id, once.task.attempt) == (
            again.fence,
            again.task.id,
            again.task.attempt,
        )

    def test_gives_nothing_when_nothing_is_queued(self, lane: LaneUnderTest):
        assert lane.claim() is None

    def test_refuses_a_worker_with_another_memory_store(self, lane: LaneUnderTest):
        lane.submit()
        lane.finish(lane.granted(store_id="a"))
        lane.submit()

        assert lane.claim(store_id="b") is None
        assert lane.granted(store_id="a").mode == "run"

    def test_takes_over_an_expired_lease_as_the_second_attempt(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        lost = lane.granted()
        let_leases_lapse_at_once(lane)
        lane.expire_lease()

        grant = lane.granted()

        assert (grant.mode, grant.task.id, grant.task.attempt) == ("run", task, 2)
        assert grant.fence > lost.fence

    def test_grants_only_a_resolve_once_the_attempts_are_used_up(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        let_leases_lapse_at_once(lane)
        for _ in range(2):
            lane.granted()
            lane.expire_lease()

        grant = lane.granted()

        assert (grant.mode, grant.task.id, grant.task.attempt) == ("resolve", task, 2)


class TestRenew:
    def test_extends_a_lease_that_lapsed_but_was_not_taken(self, lane: LaneUnderTest):
        lane.submit()
        grant = lane.granted()
        lane.expire_lease()

        assert lane.lanes.renew([Lease(lane.workspace, grant.claim, grant.fence)]) == ["kept"]

        assert lane.claim() is None

    def test_says_lost_once_another_has_the_lane(self, lane: LaneUnderTest):
        lane.submit()
        stale = lane.granted()
        let_leases_lapse_at_once(lane)
        lane.expire_lease()
        lane.granted()

        assert lane.lanes.renew([Lease(lane.workspace, stale.claim, stale.fence)]) == ["lost"]


class TestFinish:
    def test_writes_the_end_and_its_events_in_one_step(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        changed = {"scope": "managed", "taskId": task, "touchedScopes": ["user"], "revision": "r1"}
        end = End(
            "completed",
            result={"summary": "Saved.", "filesTouched": []},
            revision="r1",
            memory_changed=changed,
        )

        finished = lane.finish(lane.granted(), end)

        ended = lane.task(task)
        assert ended is not None
        assert (finished.answer, finished.doorbell_ms) == ("ok", None)
        assert (ended.status, ended.revision, ended.result) == ("completed", "r1", end.result)
        assert ended.finished_ms == ended.updated_ms
        assert [event.type for event in lane.events()] == [
            "task_queued",
            "task_running",
            "task_completed",
            "memory_changed",
        ]
        assert [event.id for event in lane.events()] == [1, 2, 3, 4]
        assert json.loads(lane.events()[3].data_json) == changed

    def test_asks_for_a_doorbell_while_the_lane_has_more(self, lane: LaneUnderTest):
        lane.submit()
        lane.submit()

        assert lane.finish(lane.granted()).doorbell_ms is not None

    def test_repeated_answers_already_and_writes_no_second_event(self, lane: LaneUnderTest):
        lane.submit()
        grant = lane.granted()
        lane.finish(grant)
        before = lane.events()

        assert lane.finish(grant).answer == "already"
        assert lane.events() == before

    def test_of_a_stale_holder_is_fenced_and_changes_nothing(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        stale = lane.granted()
        let_leases_lapse_at_once(lane)
        lane.expire_lease()
        lane.granted()

        assert lane.finish(stale).answer == "fenced"

        running = lane.task(task)
        assert running is not None
        assert (running.status, running.attempt) == ("running", 2)

    def test_hands_a_task_back_to_the_head_without_counting_the_run(self, lane: LaneUnderTest):
        first, _ = lane.submit("one")
        lane.submit("two")

        lane.finish(lane.granted(), End("queued"))

        task = lane.task(first)
        assert task is not None
        assert (task.status, task.position, task.attempt) == ("queued", 1, 0)
        again = lane.granted()
        assert (again.task.id, again.task.attempt, again.input) == (first, 1, {"content": "one"})

    def test_records_a_failure_with_its_code(self, lane: LaneUnderTest):
        task, _ = lane.submit()

        lane.finish(lane.granted(), End("failed", code="remember_failed", message="It failed."))

        ended = lane.task(task)
        assert ended is not None
        assert (ended.status, ended.error_code, ended.error_message) == (
            "failed",
            "remember_failed",
            "It failed.",
        )
        assert json.loads(lane.events()[-1].data_json)["code"] == "remember_failed"

    def test_lets_an_ended_record_and_its_input_expire(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        lane.finish(lane.granted())

        assert 0 < lane.redis.pttl(lane.keys.task(task)) <= 60_000
        assert 0 < lane.redis.pttl(lane.keys.input(task)) <= 60_000

    def test_estimates_the_wait_for_a_place_from_what_tasks_took(self, lane: LaneUnderTest):
        lane.submit()
        grant = lane.granted()
        lane.redis.hincrby(lane.keys.lane, "leasedAtMs", -12_000)
        lane.finish(grant)
        for _ in range(MAX_PENDING):
            lane.submit()

        with pytest.raises(QueueFull) as refused:
            lane.submit()

        assert 12 <= refused.value.retry_after_s <= 14


def test_the_grace_after_a_restart_keeps_an_expired_lease_from_being_taken(lane: LaneUnderTest):
    lane.submit()
    lane.granted()
    lane.expire_lease()
    day_ms = 86_400_000
    lane.limits = limits(lease_ms=day_ms)  # the server is younger than a lease

    assert lane.claim() is None


def test_a_task_record_reads_like_the_api_object(lane: LaneUnderTest):
    task, _ = lane.submit()
    lane.finish(lane.granted(), DONE)

    record = lane.redis.hgetall(lane.keys.task(task))

    assert record["taskId"] == task
    assert record["workspaceId"] == lane.workspace
    assert record["createdAt"] <= record["startedAt"] <= record["finishedAt"] == record["updatedAt"]
    assert record["createdAt"].endswith("Z")
    assert len(record["createdAt"]) == len("2026-11-30T13:52:40.123Z")
    assert json.loads(record["result"])["filesTouched"] == []  # an empty list stays a list
    assert (record["status"], record["outcome"], record["kind"]) == ("completed", "completed", "remember")


def test_times_written_by_the_scripts_agree_with_the_servers_clock(lane: LaneUnderTest):
    _, accepted = lane.submit()
    seconds, _ = lane.redis.time()

    assert abs(accepted.accepted_ms - seconds * 1000) < 5_000
    task, later = lane.submit()
    record = lane.task(task)
    assert record is not None
    assert record.created_ms == later.accepted_ms


def test_a_time_never_goes_backwards_within_a_task(lane: LaneUnderTest):
    task, _ = lane.submit()
    lane.redis.hset(lane.keys.task(task), "updatedAt", "2999-01-01T00:00:00.000Z")

    lane.granted()

    assert lane.redis.hget(lane.keys.task(task), "updatedAt") == "2999-01-01T00:00:00.000Z"


def test_an_unknown_task_id_is_simply_not_found(lane: LaneUnderTest):
    assert lane.task(new_task_id("remember")) is None
    assert lane.task(TaskId("remember-nope")) is None


def let_leases_lapse_at_once(lane: LaneUnderTest) -> None:
    """Leases of no length: they lapse when granted, and no restart of the server was less than one ago."""
    lane.limits = limits(lease_ms=0)


@pytest.mark.parametrize(
    "ms", [0, 951_782_400_000, 951_868_799_999, 1_709_164_800_000, 1_796_038_405_328, 4_102_444_799_999]
)
def test_the_scripts_write_times_as_python_does(redis_url: str, ms: int):
    prelude = source("renew").removeprefix("#!lua flags=allow-oom\n").partition("-- Extend")[0]

    written = connect(redis_url).eval(prelude + "return rfc3339(tonumber(ARGV[1]))", 0, ms)

    assert written == rfc3339(ms)


def test_a_request_that_is_not_to_be_kept_is_gone_with_its_tasks_end(lane: LaneUnderTest):
    task, _ = lane.submit()
    grant = lane.granted()

    lane.finish(grant, replace(DONE, keeps_input=False))

    assert lane.redis.exists(lane.keys.input(task)) == 0
