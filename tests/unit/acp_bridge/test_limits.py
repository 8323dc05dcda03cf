import pytest

from acp_bridge.limits import Limits


def test_a_caller_waits_longer_than_all_that_may_come_before_its_answer():
    limits = Limits(start_s=20, stop_grace_s=2, settle_s=0.5, kill_s=5, max_backoff_s=5, slack_s=10)

    assert limits.longest_end_s == 15
    assert limits.longest_start_s == 80
    assert limits.call_bound_s(300) == 405


@pytest.mark.parametrize(("guard_ms", "period_s"), [(6_500, 1.0), (60_000, 1.0), (400, 0.1)])
def test_a_guard_may_miss_some_signs_of_life(guard_ms, period_s):
    assert Limits(guard_ms=guard_ms).extend_period_s == period_s
