"""Cancel, hand-back, hold, drop, refence, proof of death, idempotency, gates: one test for each answer."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from core.ids import new_task_id
from core.keys import CONTROL_CHANNEL
from core.settings import Settings
from jobs.broker import PASS_DELAYS_MS, Doorbell, open_broker
from jobs.errors import IdempotencyConflict, IdempotencyMismatch, MemoryUnavailable, Overloaded
from jobs.lanes import Lease
from jobs.tasks import End, Status
from tests.support.lane import LaneUnderTest, limits

BUSY = End("queued", cause="store_busy")


def status_of(lane: LaneUnderTest, task: str) -> Status | None:
    found = lane.task(task)  # type: ignore[arg-type] # any text may be asked for
    return found.status if found else None


class TestCancel:
    def test_of_a_task_that_never_ran_ends_it_at_once(self, lane: LaneUnderTest):
        first, _ = lane.submit("one")
        second, _ = lane.submit("two")

        assert lane.cancel(first) == "cancelled"

        ended = lane.task(first)
        assert ended is not None
        assert (ended.status, ended.error_code, ended.attempt) == ("cancelled", "task_cancelled", 0)
        assert lane.events()[-1].type == "task_cancelled"
        assert lane.granted().task.id == second

    def test_of_the_only_task_lets_the_lane_rest(self, lane: LaneUnderTest):
        task, _ = lane.submit()

        lane.cancel(task)

        assert lane.redis.zscore(lane.keys.partition.due, lane.workspace) is None
        _, next_accepted = lane.submit()
        assert next_accepted.doorbell_ms is not None

    def test_of_a_running_task_tells_its_worker(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        grant = lane.granted()
        with lane.redis.pubsub() as ears:
            ears.subscribe(CONTROL_CHANNEL)
            assert ears.get_message(timeout=5)["type"] == "subscribe"

            assert lane.cancel(task) == "cancelling"

            assert ears.get_message(timeout=5)["data"] == f"{lane.workspace} {task}"
        assert lane.lanes.renew([Lease(lane.workspace, grant.claim, grant.fence)]) == ["cancel"]
        assert lane.cancel(task) == "cancelling"  # a repeat does no harm

    def test_of_a_task_that_had_run_makes_the_next_claim_resolve_it(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        lane.finish(lane.granted(), End("queued"))

        assert lane.cancel(task) == "cancelling"

        grant = lane.granted()
        assert (grant.mode, grant.task.cancel_requested) == ("resolve", True)
        assert status_of(lane, task) == "running"

    def test_of_an_ended_task_changes_nothing(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        lane.finish(lane.granted())
        before = lane.redis.hgetall(lane.keys.task(task))

        assert lane.cancel(task) == "terminal"
        assert lane.redis.hgetall(lane.keys.task(task)) == before

    def test_of_an_unknown_task_says_so(self, lane: LaneUnderTest):
        assert lane.cancel(new_task_id("remember")) == "gone"

    def test_of_a_completing_task_leaves_it_completed_with_the_wish_visible(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        grant = lane.granted()
        lane.cancel(task)

        lane.finish(grant)

        ended = lane.task(task)
        assert ended is not None
        assert (ended.status, ended.cancel_requested) == ("completed", True)


class TestHandBack:
    def test_for_a_cause_waits_ever_longer_before_the_lane_is_rung(self, lane: LaneUnderTest):
        lane.submit()
        waits = []
        for _ in range(3):
            grant = lane.granted()
            assert lane.finish(grant, BUSY).doorbell_ms is None
            due = lane.redis.zscore(lane.keys.partition.due, lane.workspace)
            seconds, micros = lane.redis.time()
            waits.append(round((due - seconds * 1000 - micros / 1000) / 1000))

        assert waits == [1, 2, 4]

    def test_for_a_shutdown_never_counts_and_rings_at_once(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        for _ in range(20):
            assert lane.finish(lane.granted(), End("queued")).doorbell_ms is not None

        found = lane.task(task)
        assert found is not None
        assert (found.status, found.attempt) == ("queued", 0)

    def test_five_times_for_one_cause_is_free_then_each_counts_as_a_run(self, lane: LaneUnderTest):
        task, _ = lane.submit()
        for _ in range(5):
            lane.finish(lane.granted(), BUSY)
        assert lane.granted().task.attempt == 1

        lane.finish(grant_again(lane), BUSY)
        lane.finish(lane.granted(), BUSY)

        assert lane.granted().mode == "resolve"
        assert status_of(lane, task) == "running"

    def test_for_another_cause_starts_the_count_anew(self, lane: LaneUnderTest):
        lane.submit()
        for cause in ("store_busy", "unresolved") * 6:
            lane.finish(lane.granted(), End("queued", cause=cause))

        assert lane.granted().task.attempt == 1


def grant_again(lane: LaneUnderTest):
    """The grant that the lane's running task has now."""
    return lane.granted(claim=lane.redis.hget(lane.keys.lane, "claim"))


class TestHold:
    def test_a_held_lane_starts_nothing_until_it_is_let_go(self, lane: LaneUnderTest):
        lane.upkeep.hold(lane.workspace)
        task, accepted = lane.submit()

        assert accepted.doorbell_ms is None
        assert lane.claim() is None
        assert lane.sweep() == []
        lane.make_due()
        assert lane.sweep() == []  # looked at, not rung for

        assert lane.upkeep.unhold(lane.workspace) is not None
        assert lane.granted().task.id == task

    def test_what_runs_goes_on_under_a_hold(self, lane: LaneUnderTest):
        lane.submit()
        lane.submit()
        grant = lane.granted()
        lane.upkeep.hold(lane.workspace)

        finished = lane.finish(grant)

        assert (finished.answer, finished.doorbell_ms) == ("ok", None)
        assert lane.claim() is None

    def test_letting_an_idle_lane_go_asks_for_no_doorbell(self, lane: LaneUnderTest):
        lane.upkeep.hold(lane.workspace)

        assert lane.upkeep.unhold(lane.workspace) is None


class TestDropWorkspace:
    def test_ends_what_is_queued_and_leaves_no_key(self, lane: LaneUnderTest):
        tasks = [lane.submit()[0] for _ in range(3)]
        lane.finish(lane.granted())

        assert lane.upkeep.drop_workspace(lane.workspace)

        assert lane.redis.keys(f"{lane.keys.base}:*") == []
        assert lane.task(tasks[0]) is None
        assert lane.redis.zscore(lane.keys.partition.due, lane.workspace) is None
        assert lane.redis.zscore(lane.keys.partition.wait, lane.workspace) is None

    def test_waits_for_what_runs_and_tells_it_to_stop(self, lane: LaneUnderTest):
        lane.submit()
        queued, _ = lane.submit()
        grant = lane.granted()

        assert not lane.upkeep.drop_workspace(lane.workspace)
        assert status_of(lane, queued) == "cancelled"
        assert lane.lanes.renew([Lease(lane.workspace, grant.claim, grant.fence)]) == ["cancel"]

        lane.finish(grant, End("cancelled"))
        assert lane.upkeep.drop_workspace(lane.workspace)
        assert lane.upkeep.drop_workspace(lane.workspace)  # of nothing


class TestRefence:
    def test_gives_the_holder_a_fence_beyond_what_the_store_has_seen(self, lane: LaneUnderTest):
        lane.submit()
        grant = lane.granted()
        ahead = grant.fence + 86_400_000

        fence = lane.lanes.refence(Lease(lane.workspace, grant.claim, grant.fence), at_least=ahead)

        assert fence == ahead
        assert lane.finish(grant).answer == "fenced"  # the old fence is no longer ours

    def test_is_refused_to_who_lost_the_lane(self, lane: LaneUnderTest):
        lane.submit()
        grant = lane.granted()
        lane.finish(grant)

        assert lane.lanes.refence(Lease(lane.workspace, grant.claim, grant.fence), at_least=1) is None


class TestExpireOwner:
    def test_ends_the_leases_of_the_dead_and_of_nobody_else(self, lane: LaneUnderTest):
        other = LaneUnderTest(lane.redis)
        for each, owner in ((lane, "dead"), (other, "deadly")):
            each.submit()
            each.granted(claim=f"{owner}:1")

        assert lane.upkeep.expire_owner("dead") == 1
        assert lane.upkeep.expire_owner("dead") == 0

        assert len(lane.sweep()) == 1
        assert lane.granted().task.attempt == 2
        assert other.claim() is None

    def test_a_proven_death_needs_no_grace_after_a_restart(self, lane: LaneUnderTest):
        lane.limits = limits(lease_ms=86_400_000)  # the server is younger than a lease
        lane.submit()
        lane.granted(claim="dead:1")
        lane.expire_lease()
        assert lane.claim() is None

        lane.redis.hset(lane.keys.lane, "expiresAtMs", 10**15)
        lane.upkeep.expire_owner("dead")

        assert lane.claim() is not None


class TestIdempotency:
    def test_the_same_key_and_request_give_the_same_task(self, lane: LaneUnderTest):
        first, _ = lane.submit("one", key="k")

        _, again = lane.submit("one", key="k")

        assert (again.task, again.fresh) == (first, False)
        assert lane.redis.llen(lane.keys.pending) == 1

    def test_fifty_at_once_make_one_task(self, lane: LaneUnderTest):
        with ThreadPoolExecutor(8) as pool:
            submitted = list(pool.map(lambda _: lane.submit("one", key="k"), range(50)))

        assert len({accepted.task for _, accepted in submitted}) == 1

    def test_the_same_key_for_another_request_is_a_mismatch(self, lane: LaneUnderTest):
        lane.submit("one", key="k")

        with pytest.raises(IdempotencyMismatch):
            lane.submit("two", key="k")

        assert lane.redis.llen(lane.keys.pending) == 1

    def test_a_key_whose_task_is_forgotten_is_a_conflict(self, lane: LaneUnderTest):
        task, _ = lane.submit("one", key="k")
        lane.redis.delete(lane.keys.task(task))

        with pytest.raises(IdempotencyConflict):
            lane.submit("one", key="k")

    def test_a_known_key_passes_where_nothing_new_is_let_in(self, lane: LaneUnderTest):
        first, _ = lane.submit("one", key="k")
        for _ in range(15):
            lane.submit()

        assert lane.submit("one", key="k", gate="closed")[1].task == first


class TestGates:
    def test_a_closed_lane_accepts_nothing(self, lane: LaneUnderTest):
        with pytest.raises(MemoryUnavailable):
            lane.submit(gate="closed")

        assert lane.redis.zcard(lane.keys.index) == 0

    def test_under_load_only_lanes_that_are_busy_are_let_in(self, lane: LaneUnderTest):
        with pytest.raises(Overloaded) as refused:
            lane.submit(gate="busy")
        assert refused.value.retry_after_s == 5

        lane.submit()
        assert lane.submit(gate="busy")[1].position == 2


class TestSweepWithProbe:
    def test_a_doorbell_that_still_waits_in_the_broker_is_not_rung_again(self, lane: LaneUnderTest):
        _, accepted = lane.submit()
        lane.make_due()

        assert lane.sweep(oldest_doorbell_ms=accepted.accepted_ms - 1000) == []
        assert lane.redis.zscore(lane.keys.partition.due, lane.workspace) > accepted.accepted_ms

    def test_a_doorbell_older_than_the_brokers_head_is_lost(self, lane: LaneUnderTest):
        _, accepted = lane.submit()
        lane.make_due()

        assert len(lane.sweep(oldest_doorbell_ms=accepted.accepted_ms + 1000)) == 1

    def test_with_an_empty_broker_every_doorbell_is_lost(self, lane: LaneUnderTest):
        lane.submit()
        lane.make_due()

        assert len(lane.sweep(oldest_doorbell_ms=0)) == 1

    def test_after_two_minutes_it_is_rung_again_whatever_the_broker_says(self, lane: LaneUnderTest):
        lane.submit()
        lane.redis.hincrby(lane.keys.lane, "doorbellAtMs", -121_000)
        lane.make_due()

        assert len(lane.sweep(oldest_doorbell_ms=1)) == 1

    def test_each_ring_that_leads_to_nothing_makes_the_next_one_later(self, lane: LaneUnderTest):
        lane.submit()
        waits = []
        for _ in range(4):
            lane.make_due()
            (stamp,) = lane.sweep(oldest_doorbell_ms=0)
            waits.append(lane.redis.zscore(lane.keys.partition.due, lane.workspace) - stamp)

        assert waits == [10_000, 20_000, 30_000, 30_000]

    def test_it_tells_how_far_the_workers_are_behind(self, own_redis):
        from events.connect import connect

        lane = LaneUnderTest(connect(own_redis.state_url))
        lane.submit()
        lane.redis.zincrby(lane.keys.partition.wait, -60_000, lane.workspace)

        sweep = lane.upkeep.sweep()

        assert sweep.waiting == 1
        assert 60_000 <= sweep.oldest_wait_ms < 120_000


class TestWaiting:
    """Only lanes that want a worker count as waiting for one."""

    def wait(self, lane: LaneUnderTest) -> float | None:
        score: float | None = lane.redis.zscore(lane.keys.partition.wait, lane.workspace)
        return score

    def test_a_lane_of_another_store_does_not_count(self, lane: LaneUnderTest):
        lane.submit()
        lane.finish(lane.granted(store_id="a"))
        _, accepted = lane.submit()
        assert self.wait(lane) == accepted.accepted_ms

        assert lane.claim(store_id="b") is None

        assert self.wait(lane) is None

    def test_a_lane_that_nobody_serves_counts_until_its_doorbell_has_gone_round(self, lane: LaneUnderTest):
        settings = Settings(redis_url="redis://127.0.0.1:1/0")
        doorbell = Doorbell(open_broker(settings), lane.redis)
        lane.submit()
        assert self.wait(lane) is not None

        doorbell.pass_on(lane.workspace, 1, passes=len(PASS_DELAYS_MS))

        assert self.wait(lane) is None
