from acp_bridge.backoff import Backoff


def test_without_a_death_there_is_no_pause():
    assert Backoff(first_s=1, max_s=8).remaining_s(0) == 0


def test_the_pause_doubles_with_each_death_up_to_the_cap():
    backoff = Backoff(first_s=1, max_s=5)
    pauses = []

    for _ in range(4):
        backoff.died(1000)
        pauses.append(backoff.remaining_s(1000))

    assert pauses == [1, 2, 4, 5]


def test_time_since_the_last_death_counts():
    backoff = Backoff(first_s=1, max_s=8)

    backoff.died(1000)

    assert backoff.remaining_s(1400) == 0.6
    assert backoff.remaining_s(9000) == 0


def test_a_success_forgets_all_deaths():
    backoff = Backoff(first_s=1, max_s=8)
    backoff.died(0)

    backoff.succeeded()

    assert backoff.remaining_s(0) == 0


def test_a_thousand_deaths_overflow_nothing():
    backoff = Backoff(first_s=1, max_s=8)

    for _ in range(1000):
        backoff.died(0)

    assert backoff.remaining_s(0) == 8
