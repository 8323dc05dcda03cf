"""What the machine has found, each as a short test of its own."""

from typing import Any

import pytest

from jobs.lanes import Lease
from jobs.tasks import End
from tests.support.lane import LaneUnderTest, limits


@pytest.fixture
def lane(model_redis: Any) -> LaneUnderTest:
    return LaneUnderTest(model_redis)


def test_a_resolve_that_is_handed_back_does_not_make_the_task_run_again(lane: LaneUnderTest):
    lane.limits = limits(lease_ms=0)
    lane.submit()
    for _ in range(2):
        lane.granted()
        lane.expire_lease()
    resolving = lane.granted()
    assert resolving.mode == "resolve"

    lane.finish(resolving, End("queued", cause="unresolved"))

    again = lane.granted()
    assert (again.mode, again.task.attempt) == ("resolve", 2)


def test_a_paused_lane_is_rung_for_at_its_time_however_full_the_broker_is(lane: LaneUnderTest):
    lane.submit()
    lane.finish(lane.granted(), End("queued", cause="store_busy"))
    lane.make_due()

    assert len(lane.sweep(oldest_doorbell_ms=1)) == 1


def test_a_dropped_workspace_forgets_its_idempotency_keys(lane: LaneUnderTest):
    lane.submit("one", key="k")

    assert lane.upkeep.drop_workspace(lane.workspace)

    assert lane.redis.keys(f"{lane.keys.base}:*") == []


def test_an_idle_lane_is_not_due_after_a_foreign_claim(lane: LaneUnderTest):
    lane.submit()
    lane.finish(lane.granted(store_id="a"))

    assert lane.claim(store_id="b") is None

    assert lane.redis.zscore(lane.keys.partition.due, lane.workspace) is None


def test_a_holder_that_renews_after_its_proof_of_death_has_its_grace_back(lane: LaneUnderTest):
    lane.submit()
    grant = lane.granted(claim="dead:1")
    lane.upkeep.expire_owner("dead")
    lane.limits = limits(lease_ms=86_400_000)  # the server is younger than a lease
    assert lane.lanes.renew([Lease(lane.workspace, grant.claim, grant.fence)]) == ["kept"]
    lane.expire_lease()

    assert lane.claim() is None


def test_a_dropped_workspace_forgets_the_keys_of_evicted_tasks_too(lane: LaneUnderTest):
    task, _ = lane.submit("one", key="k")
    lane.finish(lane.granted())
    lane.redis.zadd(lane.keys.done, {task: 1})
    lane.submit()  # by now the first is past its life
    assert lane.task(task) is None

    assert lane.upkeep.drop_workspace(lane.workspace)

    assert lane.redis.keys(f"{lane.keys.base}:*") == []


def test_a_new_task_does_not_cut_a_pause_short(lane: LaneUnderTest):
    lane.submit()
    for _ in range(3):
        lane.finish(lane.granted(), End("queued", cause="store_busy"))
    due_ms = lane.redis.zscore(lane.keys.partition.due, lane.workspace)

    _, accepted = lane.submit()

    assert accepted.doorbell_ms is None
    assert lane.redis.zscore(lane.keys.partition.due, lane.workspace) == due_ms


def test_a_dropped_workspace_has_what_was_handed_back_resolved_first(lane: LaneUnderTest):
    task, _ = lane.submit()
    lane.finish(lane.granted(), End("queued"))
    lane.submit()

    assert not lane.upkeep.drop_workspace(lane.workspace)

    assert len(lane.sweep()) == 1
    resolving = lane.granted()
    assert (resolving.mode, resolving.task.id) == ("resolve", task)
    lane.finish(resolving, End("cancelled"))
    assert lane.upkeep.drop_workspace(lane.workspace)
    assert lane.redis.keys(f"{lane.keys.base}:*") == []


def test_a_lapsed_lease_of_the_dead_needs_no_grace_after_a_restart(lane: LaneUnderTest):
    lane.submit()
    lane.granted(claim="lapsed:1")
    lane.expire_lease()
    lane.limits = limits(lease_ms=86_400_000)  # the server is younger than a lease

    assert lane.upkeep.expire_owner("lapsed") == 1

    assert lane.claim() is not None


def test_a_lane_at_work_does_not_count_as_waiting_however_long_its_queue_has(lane: LaneUnderTest):
    lane.submit()
    lane.submit()
    grant = lane.granted()

    assert lane.redis.zscore(lane.keys.partition.wait, lane.workspace) is None

    finished = lane.finish(grant)

    assert lane.redis.zscore(lane.keys.partition.wait, lane.workspace) == finished.doorbell_ms


def test_a_hold_on_an_idle_lane_is_kept(lane: LaneUnderTest):
    lane.submit()
    lane.finish(lane.granted())

    lane.upkeep.hold(lane.workspace)
    assert lane.redis.ttl(lane.keys.lane) == -1

    lane.upkeep.unhold(lane.workspace)
    assert lane.redis.ttl(lane.keys.lane) > 0


def test_a_ring_for_a_lane_that_never_was_leaves_nothing_for_ever(lane: LaneUnderTest):
    assert lane.claim() is None

    assert lane.redis.ttl(lane.keys.lane) > 0
