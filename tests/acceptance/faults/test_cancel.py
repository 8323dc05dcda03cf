"""Cancelling at any moment: a cancelled task has changed nothing, one that has committed completes."""

import random
import shlex
import sys

import pytest

from core.clock import wall_ms
from jobs.errors import TaskFinished
from jobs.tasks import End, Task
from tests.acceptance.faults.conftest import MakeCluster
from tests.support import fake_child
from tests.support.child_processes import is_running, running_in_group
from tests.support.cluster import END_LIMIT_S, SLACK_MS, Cluster, outcome
from tests.support.gates import Gates
from tests.support.scripted_model import says, scripted_model, silent
from tests.support.waiting import until


@pytest.fixture
def cluster(make_cluster: MakeCluster, gates: Gates) -> Cluster:
    return make_cluster(agent_command=gates.agent_command)


def test_a_queued_task_is_cancelled_at_once_and_again_is_refused(cluster: Cluster):
    first, second = cluster.submit_many(0, 2)

    cancelled = cluster.cancel(first)

    assert cancelled is not None
    assert (cancelled.status, cancelled.error_code, cancelled.attempt) == ("cancelled", "task_cancelled", 0)
    with pytest.raises(TaskFinished):
        cluster.cancel(first)
    cluster.start_worker()
    assert [task.status for task in cluster.wait_ended([second])] == ["completed"]
    assert cluster.commits() == [second.id]
    assert cluster.violations() == []


def test_an_agent_that_waits_for_its_model_gives_up_at_once_and_goes_on_with_the_next_task(
    make_cluster: MakeCluster,
):
    with scripted_model([silent(), says("No.")]) as model:
        settings = [f"{name}={value}" for name, value in model.settings.items()]
        agent = ["env", *settings, sys.executable, "-P", "-m", "memlane", "agent"]
        cluster = make_cluster(agent_command=shlex.join(agent))
        worker = cluster.start_worker()
        first, second = cluster.submit_many(0, 2)
        assert model.requested.wait(END_LIMIT_S)
        until(lambda: cluster.find(first).progress)
        told = cluster.find(first).progress

        cancelled_ms = wall_ms()
        cluster.cancel(first)
        ended = cluster.wait_ended([first, second])

    assert told is not None
    assert (told["turn"], told["filesTouched"]) == (1, 0)
    assert [outcome(task)[:2] for task in ended] == [
        ("cancelled", "task_cancelled"),
        ("failed", "remember_no_update"),
    ]
    assert (ended[0].finished_ms or 0) - cancelled_ms <= 1_000 + SLACK_MS
    assert [task.progress for task in ended] == [None, None]
    assert worker.count_logged("agent_started") == 1
    assert cluster.violations() == []


def test_a_running_task_is_cancelled_within_seconds_and_an_agent_that_does_not_give_up_is_gone(
    cluster: Cluster, gates: Gates
):
    cluster.start_worker()
    gate = gates.set("staged", "w0")
    first, second = cluster.submit_many(0, 2)
    child = gate.wait_taken()

    answers = [cluster.cancel(first), cluster.cancel(first)]  # a repeat does no harm
    ended = cluster.wait_ended([first, second])

    assert [(task.status, task.cancel_requested) for task in answers if task] == [("running", True)] * 2
    assert [(task.status, task.error_code) for task in ended] == [
        ("cancelled", "task_cancelled"),
        ("completed", None),
    ]
    assert not is_running(child)
    with pytest.raises(TaskFinished):
        cluster.cancel(first)
    assert cluster.violations() == []


def test_a_task_that_has_committed_completes_in_spite_of_a_cancel(cluster: Cluster, gates: Gates):
    cluster.start_worker()
    gate = gates.set("committed", "w0")
    task = cluster.submit()
    gate.wait_taken()

    cluster.cancel(task)
    (ended,) = cluster.wait_ended([task])

    assert (ended.status, ended.cancel_requested, ended.revision) == ("completed", True, "r1")
    assert cluster.commits() == [task.id]
    assert cluster.violations() == []


def test_a_cancelled_task_whose_worker_dies_is_resolved_and_not_run_again(cluster: Cluster, gates: Gates):
    doomed = cluster.start_worker()
    gate = gates.set("staged", "w0")
    first, second = cluster.submit_many(0, 2)
    gate.wait_taken()
    doomed.pause()
    cluster.cancel(first)
    doomed.kill()
    cluster.start_worker()

    ended = cluster.wait_ended([first, second])

    assert [(task.status, task.attempt) for task in ended] == [("cancelled", 1), ("completed", 1)]
    assert cluster.violations() == []


def test_cancels_that_race_with_commits_never_leave_a_cancelled_task_with_a_commit(make_cluster: MakeCluster):
    cluster = make_cluster(4)
    cluster.start_worker()
    dice = random.Random(7)
    tasks = [task for number in range(4) for task in cluster.submit_many(number, 10)]
    for task in dice.sample(tasks, 20):
        if dice.random() < 0.5:
            cluster.wait_running(task)
        cancel_if_running(cluster, task)

    ended = cluster.wait_ended(tasks)

    assert {task.status for task in ended} <= {"completed", "cancelled"}
    assert sorted(cluster.commits()) == sorted(task.id for task in ended if task.status == "completed")
    assert cluster.violations() == []


def cancel_if_running(cluster: Cluster, task: Task) -> None:
    try:
        cluster.cancel(task)
    except TaskFinished:
        assert cluster.find(task).is_terminal


@pytest.mark.parametrize("way", ["cancel", "time limit"])
def test_an_agent_that_ignores_signals_and_has_children_is_ended_as_a_whole(
    make_cluster: MakeCluster, way: str
):
    cluster = make_cluster(agent_command=shlex.join(fake_child.command("ToughFamily")))
    fault = {} if way == "cancel" else {"fault": "impatient"}
    cluster.start_worker(**fault)
    task = cluster.submit()
    cluster.wait_running(task)
    until(lambda: (cluster.folders[0] / fake_child.GRANDCHILD).exists())
    (group,) = fake_child.leaders(cluster.folders[0])
    if way == "cancel":
        cluster.cancel(task)

    (ended,) = cluster.wait_ended([task])

    expected = ("cancelled", "task_cancelled") if way == "cancel" else ("failed", "remember_timeout")
    assert (ended.status, ended.error_code) == expected
    assert running_in_group(group) == []
    assert cluster.violations() == []


def test_handing_back_a_task_that_was_only_resolved_leaves_its_attempts_alone(cluster: Cluster):
    lane = cluster.by_hand()
    task, _ = lane.submit()
    lane.finish(lane.granted(store_id=cluster.store_id), End("queued"))
    assert lane.cancel(task) == "cancelling"
    grant = lane.granted(store_id=cluster.store_id)
    assert grant.mode == "resolve"

    lane.finish(grant, End("queued", cause="unresolved"))

    found = lane.task(task)
    assert found is not None
    assert found.attempt == 0
