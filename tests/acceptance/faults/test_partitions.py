"""Packets between a process and Redis get lost: nobody commits beside another, nothing is done twice."""

import os
import shlex
from hashlib import sha1

import pytest

from jobs.client import open_jobs
from jobs.scripts import source
from jobs.tasks import Submission
from tests.acceptance.faults.conftest import MakeCluster
from tests.support import fake_child
from tests.support.child_processes import is_running, running_in_group
from tests.support.cluster import LEASE_MS, Cluster, Worker, outcome
from tests.support.gates import Gates
from tests.support.redis_proxy import RedisProxy
from tests.support.waiting import until


def start_behind(proxy: RedisProxy, cluster: Cluster, **settings: str) -> Worker:
    """A worker that reaches Redis through the proxy only."""
    return cluster.start_worker(redis_url=proxy.url(0), broker_url=proxy.url(1), **settings)


def call_of(script: str) -> str:
    """How a call of a lane script begins on the wire."""
    digest = sha1(source(script).encode(), usedforsecurity=False).hexdigest()
    return f"EVALSHA\r\n$40\r\n{digest}"


def test_an_agent_that_was_cut_off_is_ended_once_its_worker_learns_that_the_lane_was_taken(
    make_cluster: MakeCluster, gates: Gates, proxy: RedisProxy
):
    cluster = make_cluster(agent_command=gates.agent_command)
    cut_off = start_behind(proxy, cluster)
    gate = gates.set("staged", "w0")
    tasks = cluster.submit_many(0, 2)
    child = gate.wait_taken()
    cluster.start_worker()

    proxy.swallow()
    ended = cluster.wait_ended(tasks)
    assert is_running(child)  # it stages, so it may go on: it might have been the last to live
    proxy.heal()
    until(lambda: not is_running(child))
    until(lambda: cut_off.count_logged("task_end_fenced"))

    assert cut_off.count_logged("lease_lost") == 1
    assert [outcome(task) for task in ended] == [("completed", None, 2), ("completed", None, 1)]
    assert cluster.violations(lease_ms=LEASE_MS) == []


def test_a_commit_that_a_cut_off_worker_was_about_to_make_is_refused(
    make_cluster: MakeCluster, gates: Gates, proxy: RedisProxy
):
    cluster = make_cluster(agent_command=gates.agent_command)
    cut_off = start_behind(proxy, cluster)
    gate = gates.set("staged", "w0")
    tasks = cluster.submit_many(0, 2)
    child = gate.wait_taken()
    cluster.start_worker()

    proxy.swallow()
    ended = cluster.wait_ended(tasks)
    refusal = gates.set("refused", "w0")
    gate.open()
    assert refusal.wait_taken() == child
    refusal.open()
    proxy.heal()
    until(lambda: cut_off.count_logged("task_end_fenced"))

    assert [outcome(task) for task in ended] == [("completed", None, 2), ("completed", None, 1)]
    assert cluster.commits() == [task.id for task in tasks]
    assert cluster.violations(lease_ms=LEASE_MS) == []


def test_a_foreign_agent_is_dead_before_another_worker_takes_its_task(
    make_cluster: MakeCluster, proxy: RedisProxy
):
    cluster = make_cluster()
    start_behind(proxy, cluster, agent_command=shlex.join(fake_child.command("ForeignHangsInCall")))
    os.mkfifo(cluster.folders[0] / "taken")
    task = cluster.submit()
    assert (cluster.folders[0] / "taken").read_text() == "taken"
    (group,) = fake_child.leaders(cluster.folders[0])
    expiry = cluster.history().lane["expiresAtMs"]
    until(lambda: cluster.history().lane["expiresAtMs"] > expiry)  # it is told what the lease has left
    cluster.start_worker()

    proxy.swallow()
    until(lambda: cluster.find(task).attempt == 2)

    assert running_in_group(group) == []
    (ended,) = cluster.wait_ended([task])  # not run again: nobody knows what the first run has done
    proxy.heal()
    assert outcome(ended) == ("failed", "worker_lost", 2)
    assert cluster.violations(lease_ms=LEASE_MS) == []


def test_a_submit_whose_reply_is_lost_makes_one_task(make_cluster: MakeCluster, proxy: RedisProxy):
    cluster = make_cluster()
    jobs = open_jobs(cluster.settings.model_copy(update={"redis_url": proxy.url(0)}))
    cluster.note_accepted(jobs.submit(cluster.ids[0], Submission("remember", {"content": "Before."})))
    lost = proxy.lose_reply(call_of("submit"))

    task = jobs.submit(cluster.ids[0], Submission("remember", {"content": "During."}))
    cluster.note_accepted(task)

    assert lost.happened.is_set()
    assert task.position == 2
    cluster.start_worker()
    assert outcome(*cluster.wait_ended([task])) == ("completed", None, 1)
    assert len(cluster.history().acceptance) == 2
    assert cluster.violations() == []


@pytest.mark.parametrize(("script", "reply"), [("claim", "run"), ("finish", "ok"), ("renew", "ok")])
def test_a_worker_whose_call_was_served_without_a_reply_asks_again_and_runs_each_task_once(
    make_cluster: MakeCluster, gates: Gates, proxy: RedisProxy, script: str, reply: str
):
    cluster = make_cluster(agent_command=gates.agent_command)
    start_behind(proxy, cluster)
    lost = proxy.lose_reply(call_of(script), reply)
    gate = gates.set("staged", "w0")
    tasks = cluster.submit_many(0, 3)
    gate.wait_taken()
    cluster.start_worker()
    if script == "renew":
        assert lost.happened.wait(10)
    gate.open()
    ended = cluster.wait_ended(tasks)

    assert lost.happened.is_set()
    assert [outcome(task) for task in ended] == [("completed", None, 1)] * 3
    assert cluster.violations(lease_ms=LEASE_MS) == []
