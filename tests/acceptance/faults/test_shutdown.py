"""A worker is told to stop: short tasks end, long ones go to another worker, no lane waits for it."""

import os
import signal

import pytest

from jobs.tasks import Task
from tests.acceptance.faults.conftest import MakeCluster
from tests.support.cluster import SLACK_MS, Cluster, Worker
from tests.support.gates import Gates
from tests.support.waiting import until


def ask(worker: Worker) -> None:
    worker.process.terminate()


def ask_everybody_twice(worker: Worker) -> None:
    os.killpg(worker.pid, signal.SIGTERM)
    worker.process.terminate()


@pytest.mark.parametrize(
    "tell", [ask, ask_everybody_twice], ids=["one signal", "signals to the group and again"]
)
def test_a_stopping_worker_ends_short_tasks_hands_long_ones_over_and_delays_no_lane(
    make_cluster: MakeCluster, gates: Gates, tell
):
    cluster = make_cluster(3, agent_command=gates.agent_command, drain_s="2")
    stopping = cluster.start_worker()
    short_gate, long_gate = gates.set("staged", "w0"), gates.set("staged", "w1")
    short, long = cluster.submit(0), cluster.submit(1)
    short_gate.wait_taken()
    long_gate.wait_taken()
    cluster.start_worker()

    tell(stopping)
    others = cluster.submit_many(2, 3)
    elsewhere = cluster.wait_ended(others)
    still_draining = stopping.process.poll() is None
    short_gate.open()
    ended = cluster.wait_ended([short, long])

    assert stopping.process.wait(30) == 0
    assert still_draining or overlong(elsewhere)
    assert [(task.status, task.attempt) for task in [*elsewhere, *ended]] == [("completed", 1)] * 5
    assert pause_of_handed_over(cluster) <= 1_000 + SLACK_MS
    assert cluster.violations() == []


def overlong(tasks: list[Task]) -> bool:
    """Whether the machine was so busy that the drain was over first."""
    return (tasks[-1].finished_ms or 0) - tasks[0].created_ms > 2_000


def pause_of_handed_over(cluster: Cluster) -> int:
    """Milliseconds from the hand-back of the second lane's task to its next start."""
    steps = cluster.history(1).steps
    assert [step.type for step in steps[:4]] == ["task_queued", "task_running"] * 2
    return steps[3].at_ms - steps[2].at_ms


@pytest.mark.storm
def test_a_worker_that_stops_while_redis_is_away_ends_all_the_same(make_cluster: MakeCluster, gates: Gates):
    cluster = make_cluster(agent_command=gates.agent_command, drain_s="1")
    stopping = cluster.start_worker()
    gate = gates.set("staged", "w0")
    task = cluster.submit()
    gate.wait_taken()
    cluster.redis.stop()

    stopping.process.terminate()
    until(lambda: stopping.process.poll() is not None, limit_s=60)
    cluster.redis.start()
    cluster.start_worker()
    (ended,) = cluster.wait_ended([task])

    assert stopping.process.returncode == 0
    assert ended.status == "completed"
    assert cluster.violations() == []
