"""Caps and lives of records hold whatever races."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from core.ids import Kind
from jobs.errors import QueueFull
from jobs.limits import MAX_PENDING, MAX_RECORDS, MAX_UPKEEP
from jobs.store import TaskFilter
from jobs.tasks import Task
from tests.acceptance.faults.conftest import MakeCluster
from tests.support.cluster import Cluster
from tests.support.waiting import until


def race(cluster: Cluster, kinds: list[Kind]) -> list[Task]:
    """Submit from fifty clients at once; the tasks that were accepted."""

    def submit(kind: Kind) -> Task | None:
        try:
            return cluster.submit(0, "A fact.", kind=kind)
        except QueueFull:
            return None

    with ThreadPoolExecutor(50) as pool:
        return [task for task in pool.map(submit, kinds) if task is not None]


def finish_one(cluster: Cluster) -> None:
    lane = cluster.by_hand()
    assert lane.finish(lane.granted(store_id=cluster.store_id)).answer == "ok"


MIXED: list[Kind] = ["forget", "dream"]


@pytest.mark.parametrize(
    ("kinds", "cap"), [(["remember"], MAX_PENDING), (MIXED, MAX_UPKEEP)], ids=["all", "upkeep"]
)
def test_fifty_clients_at_once_fill_a_lane_exactly_to_its_cap(
    make_cluster: MakeCluster, kinds: list[Kind], cap: int
):
    cluster = make_cluster()

    assert len(race(cluster, kinds * (50 // len(kinds)))) == cap

    finish_one(cluster)
    assert len(race(cluster, kinds * (50 // len(kinds)))) == 1
    cluster.work_by_hand()
    assert cluster.violations() == []


def test_upkeep_and_other_tasks_are_counted_each_for_itself_and_together(make_cluster: MakeCluster):
    cluster = make_cluster()

    accepted = race(cluster, ["remember", "dream"] * 25)

    upkeep = [task for task in accepted if task.kind != "remember"]
    assert len(accepted) == MAX_PENDING
    assert len(upkeep) <= MAX_UPKEEP
    cluster.work_by_hand()
    assert cluster.violations() == []


def test_of_fifteen_hundred_tasks_the_newest_thousand_are_kept(make_cluster: MakeCluster):
    cluster = make_cluster()
    cluster.state.config_set("appendfsync", "everysec")  # durability is not the subject, and takes its time
    tasks = []
    for number in range(1500):
        tasks.append(cluster.submit(0, f"Fact {number}."))
        if number % 15 == 14:
            cluster.work_by_hand()
            cluster.recorder.record()
    waiting = [cluster.submit(0, "One more.") for _ in range(MAX_PENDING)]
    kept = cluster.history().records

    assert len(kept) == MAX_RECORDS
    assert [task.id for task in [*tasks, *waiting] if task.id in kept] == [
        task.id for task in [*tasks, *waiting][-MAX_RECORDS:]
    ]
    cluster.work_by_hand()
    assert cluster.violations() == []


def test_records_whose_time_is_up_leave_no_trace(make_cluster: MakeCluster):
    cluster = make_cluster(task_ttl_s="1", input_keep_s="1")
    old = [cluster.submit() for _ in range(5)]
    cluster.work_by_hand()
    cluster.recorder.record()
    keys: Any = cluster.by_hand().keys
    until(lambda: not any(cluster.state.exists(keys.task(task.id), keys.input(task.id)) for task in old))

    page = cluster.jobs.page(cluster.ids[0], TaskFilter(), limit=10)
    assert (page.tasks, page.next_cursor) == ((), None)
    young = cluster.submit()
    page = cluster.jobs.page(cluster.ids[0], TaskFilter(), limit=10)
    assert [task.id for task in page.tasks] == [young.id]
    assert cluster.history().index == {young.id}
    assert cluster.history().done == set()
    cluster.work_by_hand()
    assert cluster.violations() == []
