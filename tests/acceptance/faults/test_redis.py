"""Redis dies, is full, or is put back to an older state: what was accepted is done, and nothing twice."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from core.clock import boot_ms
from events.errors import StorageFull, StorageUnavailable
from jobs.tasks import Submission, Task
from memlane.embedded import EmbeddedRedis
from tests.acceptance.faults.conftest import MakeCluster
from tests.support.cluster import LEASE_MS, outcome
from tests.support.gates import Gates
from tests.support.redis_server import kill_redis
from tests.support.waiting import until
from tests.support.web_server import running_web


def wait_since(start_ms: int, seconds: float) -> None:
    """Let an outage last that long."""
    until(lambda: boot_ms() - start_ms >= seconds * 1000, limit_s=seconds + 5)


def kill_for(redis: EmbeddedRedis, seconds: float) -> None:
    """Kill the server and bring it back after a time."""
    killed_ms = boot_ms()
    kill_redis(redis)
    wait_since(killed_ms, seconds)
    redis.start()


@pytest.mark.parametrize("seconds", [1, 5])
def test_a_staging_agent_works_on_while_redis_is_down(make_cluster: MakeCluster, gates: Gates, seconds: int):
    cluster = make_cluster(2, agent_command=gates.agent_command)
    cluster.start_worker()
    cluster.start_worker()
    gate = gates.set("staged", "w0")
    tasks = cluster.submit_many(0, 3)
    child = gate.wait_taken()

    kill_for(cluster.redis, seconds)
    elsewhere = cluster.submit(1)
    until(lambda: cluster.find(elsewhere).attempt == 1, limit_s=10)
    gate.open()
    ended = cluster.wait_ended([*tasks, elsewhere])

    assert child > 0
    assert [outcome(task) for task in ended] == [("completed", None, 1)] * 4
    assert cluster.violations() == []


@pytest.mark.parametrize(
    "seconds", [6, pytest.param(60, marks=[pytest.mark.storm, pytest.mark.timeout(240)])]
)
def test_after_a_long_outage_of_redis_commits_are_told_and_lost_workers_replaced(
    make_cluster: MakeCluster, gates: Gates, seconds: int
):
    cluster = make_cluster(2, agent_command=gates.agent_command, threads="1")
    workers, tasks, held = [], [], []
    for number in range(2):  # a worker has one thread, so each has one task
        held.append(gates.set("staged", f"w{number}"))
        workers.append(cluster.start_worker())
        tasks.append(cluster.submit(number))
        held[-1].wait_taken()

    killed_ms = boot_ms()
    kill_redis(cluster.redis)
    held[0].open()
    until(lambda: cluster.commits() == [tasks[0].id])
    workers[1].kill()
    wait_since(killed_ms, seconds)
    cluster.redis.start()
    back_ms = boot_ms()
    cluster.start_worker()
    until(lambda: not any(cluster.find(task).status == "running" for task in tasks), limit_s=30)
    settled_ms = boot_ms() - back_ms
    ended = cluster.wait_ended(tasks)

    assert settled_ms <= LEASE_MS + 2_000 + 10_000
    assert [outcome(task) for task in ended] == [("completed", None, 1), ("completed", None, 2)]
    assert workers[0].process.poll() is None
    assert cluster.violations() == []


def test_redis_killed_amid_a_thousand_submits_keeps_each_that_was_acknowledged_once(
    make_cluster: MakeCluster,
):
    cluster = make_cluster(64)
    acknowledged: dict[str, Task] = {}

    def submit(number: int) -> None:
        workspace, key = number % 64, f"key-{number}"
        submission = Submission("remember", {"content": f"Fact {number}."}, idempotency_keys=(key,))
        try:
            task = cluster.jobs.submit(cluster.ids[workspace], submission)
        except StorageUnavailable:
            return
        first = acknowledged.setdefault(key, task)
        assert first.id == task.id

    with ThreadPoolExecutor(16) as pool:
        futures = [pool.submit(submit, number) for number in range(1000)]
        until(lambda: len(acknowledged) >= 300)
        kill_redis(cluster.redis)
        [future.result(60) for future in futures]
    assert 300 <= len(acknowledged) < 1000
    cluster.redis.start()
    assert [cluster.find(task).status for task in acknowledged.values()] == ["queued"] * len(acknowledged)
    before = set(acknowledged)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(submit, range(1000)))
    for task in acknowledged.values():
        cluster.note_accepted(task)

    assert len(acknowledged) == 1000 > len(before)
    assert sum(len(cluster.history(number).acceptance) for number in range(64)) == 1000
    cluster.work_by_hand()
    assert cluster.violations() == []


def test_a_full_redis_refuses_new_tasks_and_lets_running_ones_finish(
    make_cluster: MakeCluster, gates: Gates, tmp_path: Path
):
    cluster = make_cluster(agent_command=gates.agent_command)
    cluster.start_worker()
    gate = gates.set("staged", "w0")
    running, queued = cluster.submit_many(0, 2)
    gate.wait_taken()
    with running_web(cluster.redis.state_url, cluster.folders, folder=tmp_path) as web:
        cluster.state.config_set("maxmemory", "1mb")
        answer = web.post("/workspace/memory/remember", {"content": "A fact."})
    with pytest.raises(StorageFull):
        cluster.submit()
    gate.open()
    finished = cluster.wait_ended([running])
    cluster.state.config_set("maxmemory", "0")
    ended = cluster.wait_ended([queued])

    assert (answer.status, answer.json["code"]) == (503, "storage_full")
    assert [outcome(task) for task in finished + ended] == [("completed", None, 1)] * 2
    assert cluster.violations() == []


def test_a_lane_ends_its_turn_in_good_order_when_redis_is_full(make_cluster: MakeCluster, gates: Gates):
    cluster = make_cluster(agent_command=gates.agent_command)
    worker = cluster.start_worker()
    gate = gates.set("staged", "w0")
    _, queued = cluster.submit_many(0, 2)
    gate.wait_taken()
    cluster.state.config_set("maxmemory", "1mb")

    gate.open()
    ends_of_turn = ("run_lane_broken", "doorbell_lost")
    until(lambda: any(map(worker.count_logged, ends_of_turn)) or cluster.find(queued).is_terminal)

    assert worker.count_logged("run_lane_broken") == 0


def test_a_redis_put_back_to_before_the_claims_makes_no_second_commit_and_fences_still_rise(
    make_cluster: MakeCluster, tmp_path: Path
):
    cluster = make_cluster()
    tasks = cluster.submit_many(0, 3)
    cluster.redis.stop()
    data, copy = tmp_path / "own-redis" / "appendonlydir", tmp_path / "copy"
    shutil.copytree(data, copy)
    cluster.redis.start()
    worker = cluster.start_worker()
    first = cluster.wait_ended(tasks)
    fence = cluster.history().stored_fence

    kill_redis(cluster.redis)
    shutil.rmtree(data)
    shutil.copytree(copy, data)
    cluster.redis.start()
    again = cluster.wait_ended(tasks)

    assert [task.revision for task in again] == [task.revision for task in first]
    assert worker.count_logged("task_recovered") == 3
    assert len(cluster.commits()) == 3
    assert cluster.history().stored_fence > fence
    later = cluster.submit()
    assert outcome(*cluster.wait_ended([later])) == ("completed", None, 1)
    assert cluster.violations() == []
