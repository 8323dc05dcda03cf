from bench.proof import Proof, Run, check, parse_runs

S = 1_000_000_000


def test_runs_in_order_one_at_a_time_prove_clean():
    runs = [Run("w0", 0, 1 * S, 2 * S), Run("w0", 1, 2 * S, 3 * S), Run("w1", 0, 1 * S, 3 * S)]

    proof = check(runs, {"w0": 2, "w1": 1})

    assert proof == Proof(tasks=3, inversions=0, overlaps=0, missing=0, repeated=0, per_s=1.5)


def test_a_task_that_starts_after_a_later_one_is_an_inversion():
    runs = [Run("w0", 1, 0, 1), Run("w0", 0, 2, 3), Run("w0", 2, 4, 5)]

    assert check(runs, {"w0": 3}).inversions == 1


def test_a_task_that_starts_before_an_earlier_one_has_ended_is_an_overlap():
    runs = [Run("w0", 0, 0, 10), Run("w0", 1, 2, 3), Run("w0", 2, 5, 12), Run("w0", 3, 12, 13)]

    assert check(runs, {"w0": 4}).overlaps == 2


def test_tasks_of_different_workspaces_may_overlap_and_come_in_any_order():
    runs = [Run("w0", 1, 0, 10), Run("w1", 0, 2, 3)]

    proof = check(runs, {"w0": 1, "w1": 1})

    assert (proof.inversions, proof.overlaps) == (0, 0)


def test_what_never_ran_is_missing_and_what_ran_again_is_repeated():
    runs = [Run("w0", 0, 0, 1), Run("w0", 0, 2, 3)]

    proof = check(runs, {"w0": 2})

    assert (proof.missing, proof.repeated) == (1, 1)


def test_runs_of_other_workspaces_do_not_count():
    proof = check([Run("warm", 0, 0, 9 * S), Run("w0", 0, 9 * S, 10 * S)], {"w0": 1})

    assert (proof.tasks, proof.per_s) == (1, 1.0)


def test_an_empty_diary_has_no_rate():
    assert check([], {"w0": 1}) == Proof(1, 0, 0, missing=1, repeated=0, per_s=0.0)


def test_a_line_cut_short_by_a_kill_is_left_out():
    assert parse_runs("w0 0 10 20\nw1 5 30 4") == [Run("w0", 0, 10, 20)]
