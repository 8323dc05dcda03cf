"""The checker of the fault tests finds each broken promise, and nothing in a clean history."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.history import Change, Commit, LaneHistory, Step
from tests.support.invariants import check, check_documents

CHANGE = Change("memories", "user/a.md", "text")
LANE = "default/w"


def steps(*rows: tuple[Any, ...]) -> list[Step]:
    """A log; a row is a task, what happened, and optionally an attempt. An event comes each second."""
    return [step(number, *row) for number, row in enumerate(rows, start=1)]


def step(number: int, task: str, what: str, attempt: int = 1) -> Step:
    kind = task.split("-")[0]
    if what == "memory_changed":
        return Step(number, number * 1000, what, task)
    return Step(number, number * 1000, f"task_{what}", task, kind, what, attempt)


def history(*rows: tuple[Any, ...], **facts: Any) -> LaneHistory:
    """A lane whose records, sets and commits fit its log."""
    log = steps(*rows)
    lane = LaneHistory("w", log)
    records = {
        task: {"status": status, "result": '{"filesTouched": ["a"]}' if status == "completed" else "{}"}
        for task, status in lane.ends.items()
    }
    commits = [
        Commit(number, task, LANE, number, (CHANGE,)) for number, task in enumerate(lane.changes_announced, 1)
    ]
    whole: dict[str, Any] = {
        "accepted": lane.acceptance,
        "records": records,
        "lane": {"eventSeq": str(len(log))},
        "index": frozenset(records),
        "done": frozenset(records),
        "commits": commits,
        "stored_fence": len(commits),
    }
    return replace(lane, **(whole | facts))


def run_of(task: str, end: str = "completed") -> list[tuple[Any, ...]]:
    changed = [(task, "memory_changed")] if end == "completed" else []
    return [(task, "running"), (task, end), *changed]


A, B = "remember-a", "remember-b"
CLEAN = [(A, "queued"), (B, "queued"), *run_of(A), *run_of(B)]


def broken(lane: LaneHistory, **limits: int) -> set[str]:
    return {violation.invariant for violation in check([lane], **limits)}


@pytest.mark.parametrize(
    "rows",
    [
        [],
        CLEAN,
        [(A, "queued"), (A, "cancelled"), (B, "queued"), *run_of(B)],
        [(A, "queued"), (A, "running"), (A, "running", 2), (A, "completed", 2), (A, "memory_changed")],
        [(A, "queued"), (A, "running"), (A, "queued"), *run_of(A)],
        [(A, "queued"), (A, "running"), (A, "queued"), (A, "running", 2), (A, "failed", 2)],
        [(A, "queued"), (A, "running"), (A, "running", 2), (A, "queued"), (A, "cancelled")],
    ],
    ids=["empty", "two tasks", "cancelled", "taken over", "handed back", "counted hand-back", "resolved"],
)
def test_a_clean_history_passes(rows):
    assert check([history(*rows)], lease_ms=1000) == []


def test_a_start_before_an_earlier_task_has_ended_is_found():
    assert "I1" in broken(history((A, "queued"), (B, "queued"), *run_of(B), *run_of(A)))


def test_a_hand_back_of_a_task_that_never_ran_is_found():
    assert broken(history((A, "queued"), (A, "queued"), *run_of(A))) == {"I1"}


def test_two_tasks_that_run_at_once_are_found():
    rows = [(A, "queued"), (B, "queued"), (A, "running"), (B, "running"), (A, "failed"), (B, "failed")]

    assert "I2" in broken(history(*rows))


def test_a_second_attempt_before_the_lease_was_lost_is_found():
    rows = [(A, "queued"), (A, "running"), (A, "running", 2), (A, "failed", 2)]

    assert broken(history(*rows), lease_ms=1001) == {"I2"}


@pytest.mark.parametrize("attempt", [1, 3])
def test_an_attempt_that_is_not_the_next_one_is_found(attempt):
    rows = [(A, "queued"), (A, "running"), (A, "running", attempt), (A, "failed", attempt)]

    assert broken(history(*rows)) == {"I2"}


def test_a_commit_under_an_older_fence_is_found():
    commits = [Commit(1, A, LANE, 5, (CHANGE,)), Commit(2, B, LANE, 4, (CHANGE,))]

    assert broken(history(*CLEAN, commits=commits, stored_fence=5)) == {"I3"}


def test_a_commit_under_a_fence_that_the_store_has_not_seen_is_found():
    assert broken(history(*CLEAN, stored_fence=1)) == {"I3"}


def test_a_task_that_committed_twice_is_found():
    rows = [(A, "queued"), *run_of(A)]
    commits = [Commit(number, A, LANE, number, (CHANGE,)) for number in (1, 2)]

    assert broken(history(*rows, commits=commits, stored_fence=2)) == {"I3"}


def test_commits_out_of_the_order_of_acceptance_are_found():
    commits = [Commit(1, B, LANE, 1, (CHANGE,)), Commit(2, A, LANE, 2, (CHANGE,))]

    assert broken(history(*CLEAN, commits=commits)) == {"I3"}


def test_an_accepted_task_that_is_nowhere_is_found():
    assert broken(history(*CLEAN, accepted=[A, B, "remember-c"])) == {"I4"}


def test_a_task_that_did_not_end_is_found():
    assert broken(history((A, "queued"), (A, "running"))) == {"I4"}


def test_a_second_end_is_found():
    assert broken(history((A, "queued"), *run_of(A, "failed"), (A, "cancelled"))) == {"I4"}


def test_a_start_after_the_end_is_found():
    assert broken(history((A, "queued"), *run_of(A, "failed"), (A, "running"))) == {"I4"}


def test_a_task_that_nobody_accepted_is_found():
    assert broken(history((A, "running"), (A, "failed"))) == {"I4"}


def test_a_completion_without_a_run_is_found():
    assert broken(history((A, "queued"), (A, "completed"), (A, "memory_changed"))) == {"I4"}


def test_a_record_that_says_otherwise_is_found():
    assert broken(history((A, "queued"), *run_of(A, "failed"), records={A: {"status": "cancelled"}})) == {
        "I4"
    }


def test_a_lane_that_still_runs_is_found():
    lane = {"eventSeq": "6", "running": A}

    assert "I5" in broken(history(*CLEAN, lane=lane))


def test_a_record_that_still_runs_is_found():
    found = broken(history((A, "queued"), *run_of(A, "failed"), records={A: {"status": "running"}}))

    assert found == {"I4", "I5"}


@pytest.mark.parametrize("end", ["failed", "cancelled"])
def test_a_commit_of_a_task_that_did_not_complete_is_found(end):
    commits = [Commit(1, A, LANE, 1, (CHANGE,))]

    assert broken(history((A, "queued"), *run_of(A, end), commits=commits, stored_fence=1)) == {"I6"}


def test_a_commit_of_an_unknown_task_is_found():
    commits = [Commit(1, A, LANE, 1, (CHANGE,))]

    assert "I6" in broken(history(commits=commits, stored_fence=1))


def test_a_completed_task_with_changes_and_without_a_commit_is_found():
    assert broken(history((A, "queued"), *run_of(A), commits=[], stored_fence=0)) == {"I6"}


def test_a_change_that_was_not_announced_is_found():
    rows = [(A, "queued"), (A, "running"), (A, "completed")]

    assert broken(history(*rows, commits=[Commit(1, A, LANE, 1, (CHANGE,))], stored_fence=1)) == {"I6"}


def test_a_change_that_was_announced_twice_is_found():
    rows = [(A, "queued"), *run_of(A), (A, "memory_changed")]

    assert broken(history(*rows, commits=[Commit(1, A, LANE, 1, (CHANGE,))], stored_fence=1)) == {"I6"}


def test_an_announcement_without_a_change_is_found():
    rows = [(A, "queued"), *run_of(A)]

    assert broken(history(*rows, commits=[Commit(1, A, LANE, 1)], stored_fence=1)) == {"I6"}


@pytest.mark.parametrize(("kind", "count"), [("remember", 17), ("dream", 9)])
def test_a_lane_over_its_cap_is_found(kind, count):
    tasks = [f"{kind}-{number}" for number in range(count)]
    rows = [(task, "queued") for task in tasks] + [(task, "cancelled") for task in tasks]

    assert broken(history(*rows)) == {"I7"}


def test_more_than_a_thousand_records_are_found():
    tasks = [f"remember-{number}" for number in range(1001)]
    rows = [row for task in tasks for row in ((task, "queued"), (task, "cancelled"))]

    assert broken(history(*rows)) == {"I7"}


def test_a_record_that_went_before_an_older_one_is_found():
    lane = history(*CLEAN)
    kept = {A: lane.records[A]}

    assert broken(replace(lane, records=kept, index=frozenset(kept), done=frozenset(kept))) == {"I7"}


@pytest.mark.parametrize("name", ["index", "done"])
def test_a_set_that_differs_from_the_records_is_found(name):
    assert broken(history(*CLEAN, **{name: frozenset({A})})) == {"I7"}


def test_a_missing_event_is_found():
    lane = history(*CLEAN)

    assert "events" in broken(replace(lane, steps=[step for step in lane.steps if step.id != 4]))


def test_an_event_that_came_after_the_last_number_is_found():
    assert broken(history(*CLEAN, lane={"eventSeq": "5"})) == {"events"}


@pytest.mark.parametrize("name", ["pending", "due", "wait"])
def test_what_is_left_over_is_found(name):
    assert broken(history(*CLEAN, **{name: True})) == {"rest"}


def test_documents_are_compared_with_the_journals_last_word(tmp_path: Path):
    folder = tmp_path / "memories" / "user"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text("text")
    (folder / "MEMORY.md").write_text("an index is made anew from what is there")
    first = Commit(
        1, A, LANE, 1, (Change("memories", "user/a.md", "old"), Change("memories", "user/b.md", "b"))
    )
    second = Commit(2, B, LANE, 2, (CHANGE, Change("memories", "user/b.md", None)))

    assert check_documents(tmp_path, [first, second]) == []


@pytest.mark.parametrize(
    ("content", "commits"),
    [
        ("other", [Commit(1, A, LANE, 1, (CHANGE,))]),
        ("text", []),
        (None, [Commit(1, A, LANE, 1, (CHANGE,))]),
    ],
    ids=["other text", "nobody's", "missing"],
)
def test_a_document_that_is_not_as_the_journal_says_is_found(tmp_path: Path, content, commits):
    folder = tmp_path / "memories" / "user"
    folder.mkdir(parents=True)
    if content is not None:
        (folder / "a.md").write_text(content)

    (found,) = check_documents(tmp_path, commits)

    assert (found.invariant, found.lane) == ("documents", "a.md")
