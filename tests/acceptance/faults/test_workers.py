"""A worker dies or is paused: its task is taken over, in its place in the line, and commits once at most."""

import os
from typing import Any

import pytest

from core.clock import boot_ms
from tests.acceptance.faults.conftest import MakeCluster
from tests.support.child_processes import is_running, running_in_group
from tests.support.cluster import LEASE_MS, SLACK_MS, Cluster, outcome
from tests.support.gates import Gates
from tests.support.waiting import until

PRODUCTION: dict[str, Any] = {"lease_ms": "8000", "renew_ms": "2000", "margin_ms": "1500"}


@pytest.fixture
def cluster(make_cluster: MakeCluster, gates: Gates) -> Cluster:
    return make_cluster(agent_command=gates.agent_command)


def starts(cluster: Cluster) -> list[int]:
    """Attempts of all starts of the first lane."""
    return [attempt for _, attempt in cluster.history().starts]


def test_a_task_whose_worker_is_killed_runs_again_at_the_head_of_its_lane(cluster: Cluster, gates: Gates):
    doomed = cluster.start_worker()
    gate = gates.set("staged", "w0")
    tasks = cluster.submit_many(0, 3)
    child = gate.wait_taken()
    cluster.start_worker()

    killed_ms = boot_ms()
    doomed.kill()
    until(lambda: not is_running(child), limit_s=5)
    until(lambda: cluster.find(tasks[0]).attempt == 2)
    recovered_ms = boot_ms() - killed_ms
    ended = cluster.wait_ended(tasks)

    assert recovered_ms <= LEASE_MS + 2_000 + SLACK_MS
    assert [outcome(task) for task in ended] == [("completed", None, attempt) for attempt in (2, 1, 1)]
    assert starts(cluster) == [1, 2, 1, 1]
    assert cluster.violations(lease_ms=LEASE_MS) == []


def test_a_worker_started_anew_on_the_same_host_need_not_wait_for_the_lease(
    make_cluster: MakeCluster, gates: Gates
):
    cluster = make_cluster(agent_command=gates.agent_command, lease_ms="60000")
    doomed = cluster.start_worker(host="one")
    gate = gates.set("staged", "w0")
    task = cluster.submit()
    gate.wait_taken()

    doomed.kill()
    cluster.start_worker(host="one")
    until(lambda: cluster.find(task).attempt == 2, limit_s=3 + SLACK_MS / 1000)

    assert outcome(*cluster.wait_ended([task])) == ("completed", None, 2)
    assert cluster.violations() == []


def test_a_task_that_kills_two_workers_fails_and_the_lane_goes_on(cluster: Cluster, gates: Gates):
    poison, next_task = cluster.submit_many(0, 2)
    for _ in range(2):
        gate = gates.set("staged", "w0")
        doomed = cluster.start_worker()
        gate.wait_taken()
        doomed.kill()
    cluster.start_worker()
    ended = cluster.wait_ended([poison, next_task])

    assert [outcome(task) for task in ended] == [("failed", "worker_lost", 2), ("completed", None, 1)]
    assert cluster.commits() == [next_task.id]
    assert cluster.violations(lease_ms=LEASE_MS) == []


def test_a_worker_killed_before_its_agent_has_started_costs_one_attempt(cluster: Cluster, gates: Gates):
    doomed = cluster.start_worker()
    gate = gates.set("started", "w0")
    tasks = cluster.submit_many(0, 2)
    child = gate.wait_taken()

    doomed.kill()
    until(lambda: not is_running(child), limit_s=5)
    cluster.start_worker()
    ended = cluster.wait_ended(tasks)

    assert [outcome(task) for task in ended] == [("completed", None, 2), ("completed", None, 1)]
    assert cluster.violations(lease_ms=LEASE_MS) == []


def test_a_worker_killed_between_commit_and_finish_leaves_a_completed_task(cluster: Cluster, gates: Gates):
    doomed = cluster.start_worker()
    gate = gates.set("committed", "w0")
    task = cluster.submit()
    gate.wait_taken()

    doomed.kill()
    rescuer = cluster.start_worker()
    (ended,) = cluster.wait_ended([task])

    assert outcome(ended) == ("completed", None, 2)
    assert ended.revision == "r1"
    assert rescuer.count_logged("task_recovered") == 1
    assert cluster.commits() == [task.id]
    assert cluster.violations(lease_ms=LEASE_MS) == []


def test_a_worker_killed_before_it_rings_for_the_next_task_delays_it_by_seconds_only(
    make_cluster: MakeCluster,
):
    cluster = make_cluster(lane_batch="1")
    cluster.start_worker(fault="dies_before_ring")
    first, second = cluster.submit_many(0, 2)
    cluster.workers[0].wait_dead()
    cluster.start_worker()

    ended = cluster.wait_ended([first, second])

    assert [outcome(task) for task in ended] == [("completed", None, 1)] * 2
    waited_ms = (ended[1].started_ms or 0) - (ended[0].finished_ms or 0)
    assert waited_ms <= 5_000 + 2_000 + SLACK_MS
    assert cluster.violations() == []


@pytest.mark.parametrize("commits", [True, False], ids=["committed", "not committed"])
def test_a_third_worker_finds_what_a_second_one_had_found_and_could_not_say(
    cluster: Cluster, gates: Gates, commits: bool
):
    task, next_task = cluster.submit_many(0, 2)
    for number in range(2):
        gate = gates.set("committed" if commits else "sealed", "w0")
        doomed = cluster.start_worker(fault="dies_before_finish")
        if number == 0 or not commits:
            gate.wait_taken()
            doomed.kill()
        else:
            doomed.wait_dead()  # it found the commit, and nothing was committed anew
    gates.open_all()
    cluster.start_worker()
    ended = cluster.wait_ended([task, next_task])

    verdict = ("completed", None, 2) if commits else ("failed", "worker_lost", 2)
    assert [outcome(one) for one in ended] == [verdict, ("completed", None, 1)]
    assert cluster.commits() == ([task.id] if commits else []) + [next_task.id]
    assert cluster.violations(lease_ms=LEASE_MS) == []


def test_a_paused_worker_has_no_agent_left_when_another_takes_over(make_cluster: MakeCluster, gates: Gates):
    cluster = make_cluster(agent_command=gates.agent_command, **PRODUCTION)
    paused = cluster.start_worker()
    gate = gates.set("staged", "w0")
    tasks = cluster.submit_many(0, 2)
    group = os.getpgid(gate.wait_taken())
    cluster.start_worker()

    paused.pause()
    until(lambda: cluster.find(tasks[0]).attempt == 2)
    family = running_in_group(group)
    ended = cluster.wait_ended(tasks)
    paused.resume()
    until(lambda: paused.count_logged("task_end_fenced"))

    assert family == []
    assert [outcome(task) for task in ended] == [("completed", None, 2), ("completed", None, 1)]
    assert cluster.violations(lease_ms=int(PRODUCTION["lease_ms"])) == []


def test_without_a_guard_the_fence_alone_keeps_a_paused_workers_agent_from_committing(
    cluster: Cluster, gates: Gates
):
    paused = cluster.start_worker(fault="unguarded")
    gate = gates.set("staged", "w0")
    tasks = cluster.submit_many(0, 2)
    child = gate.wait_taken()
    cluster.start_worker()

    paused.pause()
    ended = cluster.wait_ended(tasks)
    assert is_running(child)
    refusal = gates.set("refused", "w0")
    gate.open()  # the stale agent goes on to its commit
    assert refusal.wait_taken() == child
    paused.resume()
    until(lambda: paused.count_logged("task_end_fenced"))

    assert [outcome(task) for task in ended] == [("completed", None, 2), ("completed", None, 1)]
    assert cluster.commits() == [task.id for task in tasks]
    assert cluster.violations(lease_ms=LEASE_MS) == []


def test_under_a_shorter_lease_too_a_paused_worker_has_no_agent_left_when_another_takes_over(
    cluster: Cluster, gates: Gates
):
    paused = cluster.start_worker()
    gate = gates.set("staged", "w0")
    task = cluster.submit()
    group = os.getpgid(gate.wait_taken())
    cluster.start_worker()

    paused.pause()
    until(lambda: cluster.find(task).attempt == 2)

    assert running_in_group(group) == []


def test_a_task_whose_only_worker_was_paused_for_long_runs_again(cluster: Cluster, gates: Gates):
    worker = cluster.start_worker()
    gate = gates.set("staged", "w0")
    task = cluster.submit()
    child = gate.wait_taken()

    worker.pause()
    until(lambda: not is_running(child))
    worker.resume()
    (ended,) = cluster.wait_ended([task])

    assert cluster.violations() == []
    assert (ended.status, ended.error_code) == ("completed", None)


def test_tasks_whose_agents_died_before_they_were_asked_get_others(make_cluster: MakeCluster, gates: Gates):
    lanes = range(8)  # in each it is a matter of luck which the worker sees first, greeting or death
    cluster = make_cluster(len(lanes), agent_command=gates.agent_command)
    worker = cluster.start_worker()
    held = [gates.set("started", f"w{number}") for number in lanes]
    tasks = [cluster.submit(number) for number in lanes]
    children = [gate.wait_taken() for gate in held]

    worker.pause()
    gates.open_all()  # they answer the greeting, which the worker reads when their guards have ended them
    until(lambda: not any(map(is_running, children)))
    worker.resume()
    ended = cluster.wait_ended(tasks)

    assert cluster.violations() == []
    assert {outcome(task) for task in ended} == {("completed", None, 1)}
