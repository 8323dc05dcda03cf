"""Hosts disagree about the time: nobody decides by their clocks."""

import pytest

from tests.acceptance.faults.conftest import MakeCluster
from tests.support.cluster import LEASE_MS
from tests.support.gates import Gates
from tests.support.waiting import until


@pytest.mark.parametrize("shift_ms", [90_000, -90_000])
def test_workers_whose_clocks_are_three_minutes_apart_take_nothing_from_each_other(
    make_cluster: MakeCluster, gates: Gates, shift_ms: int
):
    cluster = make_cluster(4, agent_command=gates.agent_command, redis_check="warn")
    workers = [cluster.start_worker(fault=f"clock:{shift_ms}")]
    gate = gates.set("staged", "w0")
    tasks = [task for number in range(4) for task in cluster.submit_many(number, 4)]
    gate.wait_taken()
    workers.append(cluster.start_worker(fault=f"clock:{-shift_ms}"))
    expiry_ms = int(cluster.history().lane["expiresAtMs"])
    until(lambda: int(cluster.history().lane["expiresAtMs"]) > expiry_ms + 2 * LEASE_MS)
    gate.open()

    ended = cluster.wait_ended(tasks)

    assert [(task.status, task.attempt) for task in ended] == [("completed", 1)] * 16
    assert sum(worker.count_logged("lease_lost") for worker in workers) == 0
    assert cluster.violations(lease_ms=LEASE_MS) == []
