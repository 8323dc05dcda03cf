from acp_bridge.limits import Limits


def test_a_caller_waits_longer_than_all_that_may_come_before_its_answer():
    limits = Limits(start_s=20, stop_grace_s=2, settle_s=0.5, kill_s=5, max_backoff_s=5, slack_s=10)

    assert limits.longest_end_s == 10
    assert limits.longest_start_s == 70
    assert limits.call_bound_s(300) == 390
