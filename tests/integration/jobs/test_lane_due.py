"""Which lanes somebody looks at, when, and what the sweep does about them."""

from jobs.limits import DOORBELL_MS
from tests.support.lane import LaneUnderTest


class TestDueIndex:
    """Whatever a lane waits for, there is a time at which somebody looks."""

    def due(self, lane: LaneUnderTest) -> float | None:
        score: float | None = lane.redis.zscore(lane.keys.partition.due, lane.workspace)
        return score

    def test_a_waiting_lane_is_due_when_its_doorbell_counts_as_lost(self, lane: LaneUnderTest):
        _, accepted = lane.submit()

        assert self.due(lane) == accepted.accepted_ms + DOORBELL_MS

    def test_a_leased_lane_is_due_shortly_after_its_lease(self, lane: LaneUnderTest):
        lane.submit()
        lane.granted()

        assert self.due(lane) == int(lane.redis.hget(lane.keys.lane, "expiresAtMs")) + 200

    def test_a_lane_with_more_to_do_is_due_after_each_end(self, lane: LaneUnderTest):
        lane.submit()
        lane.submit()

        finished = lane.finish(lane.granted())

        assert finished.doorbell_ms is not None
        assert self.due(lane) == finished.doorbell_ms + DOORBELL_MS

    def test_an_idle_lane_is_not_due(self, lane: LaneUnderTest):
        lane.submit()
        lane.finish(lane.granted())

        assert self.due(lane) is None


class TestSweep:
    def test_rings_for_a_lane_whose_doorbell_was_lost(self, lane: LaneUnderTest):
        lane.submit()
        lane.make_due()

        assert len(lane.sweep()) == 1
        assert lane.sweep() == []  # its due time has moved

    def test_rings_for_a_lane_whose_holder_died(self, lane: LaneUnderTest):
        lane.submit()
        lane.granted()
        lane.expire_lease()

        assert len(lane.sweep()) == 1

    def test_leaves_a_lane_with_a_living_lease_alone(self, lane: LaneUnderTest):
        lane.submit()
        lane.granted()
        lane.make_due()

        assert lane.sweep() == []
        assert (lane.redis.zscore(lane.keys.partition.due, lane.workspace) or 0) > 1

    def test_forgets_a_lane_that_has_nothing_to_do(self, lane: LaneUnderTest):
        lane.make_due()

        assert lane.sweep() == []
        assert lane.redis.zscore(lane.keys.partition.due, lane.workspace) is None
