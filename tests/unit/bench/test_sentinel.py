from bench.proof import Run
from bench.sentinel import Situation, first_of_each, gap_ms, judge
from bench.sentinel_load import History
from core.ids import ClaimId, WorkspaceId

LANE = WorkspaceId("0123456789abcdef")
MS = 1_000_000
S = 1_000 * MS


def test_an_outage_lasts_from_the_last_answer_before_the_kill_to_the_first_after():
    assert gap_ms([1 * S, 2 * S, 6 * S, 7 * S], killed_ns=2 * S + 10 * MS) == 4_000


def test_an_answer_that_was_on_its_way_does_not_end_the_outage():
    assert gap_ms([1 * S, 1 * S + 5 * MS, 3 * S], killed_ns=1 * S + 1 * MS) == 2_000


def test_without_an_answer_on_both_sides_there_is_no_gap():
    assert gap_ms([1 * S], killed_ns=2 * S) == 0


def test_only_the_first_run_of_a_task_counts_for_the_order():
    runs = [Run("w", 1, 20, 21), Run("w", 0, 10, 11), Run("w", 0, 30, 31)]

    assert first_of_each(runs) == [Run("w", 0, 10, 11), Run("w", 1, 20, 21)]


def test_a_clean_history_is_not_broken():
    history = History(runs=[Run(LANE, 0, 1, 2), Run(LANE, 1, 3, 4)])

    verdict = judge(history, killed_ns=2, lost=0)

    assert not verdict.broken(Situation(with_wait=True, parted=True))
    assert (verdict.run_twice, verdict.inversions, verdict.overlaps) == (0, 0, 0)


def test_a_task_lost_without_a_replicas_word_is_no_broken_promise():
    verdict = judge(History(), killed_ns=0, lost=3)

    assert not verdict.broken(Situation(with_wait=False, parted=True))
    assert verdict.broken(Situation(with_wait=True, parted=True))


def test_a_fence_given_to_two_claims_is_broken():
    history = History(fences={(LANE, 5): {ClaimId("a"), ClaimId("b")}})

    assert judge(history, killed_ns=0, lost=0).broken(Situation(with_wait=False, parted=False))


def test_an_event_number_with_two_contents_is_broken():
    history = History(reused={(LANE, "epoch", 7)})

    assert judge(history, killed_ns=0, lost=0).broken(Situation(with_wait=False, parted=False))


def test_a_task_that_ran_again_counts_once_as_run_twice():
    history = History(runs=[Run(LANE, 0, 1, 2), Run(LANE, 0, 3, 4), Run(LANE, 0, 5, 6)])

    assert judge(history, killed_ns=0, lost=0).run_twice == 1
