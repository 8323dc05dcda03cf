"""A worker that has run four hundred tasks is as large as one that has run a hundred."""

from pathlib import Path

from tests.acceptance.faults.conftest import MakeCluster
from tests.support import lane_child
from tests.support.cluster import Cluster, Worker

ROUND = 16  # what a lane holds
GROWTH_KB = 2_000  # of what the kernel counts, which is coarse
NEW_CONNECTIONS = 5  # to Redis, which threads make when they first need one


def run_rounds(cluster: Cluster, rounds: int) -> None:
    for _ in range(rounds):
        tasks = [cluster.submit(content="0") for _ in range(ROUND)]
        cluster.wait_ended(tasks[-1:])


def used(worker: Worker) -> tuple[int, int, int]:
    """Resident KB, threads, open descriptors."""
    lines = Path(f"/proc/{worker.pid}/status").read_text().splitlines()
    facts = dict(line.split(":", 1) for line in lines)
    descriptors = list(Path(f"/proc/{worker.pid}/fd").iterdir())
    return int(facts["VmRSS"].split()[0]), int(facts["Threads"]), len(descriptors)


def test_hundreds_of_tasks_over_one_child_do_not_make_the_worker_grow(make_cluster: MakeCluster):
    cluster = make_cluster(agent_command=lane_child.command(), threads="1")
    worker = cluster.start_worker()
    run_rounds(cluster, 6)
    before = used(worker)

    run_rounds(cluster, 19)

    after = used(worker)
    assert after[0] - before[0] < GROWTH_KB
    assert after[1] == before[1]
    assert after[2] - before[2] < NEW_CONNECTIONS
    assert worker.count_logged("task_ended") == 25 * ROUND
    assert worker.count_logged("agent_started") == 1
