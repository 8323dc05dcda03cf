"""Doorbells are lost, doubled or stuck: lanes are served all the same, in order, and nobody is starved."""

import itertools
from collections import Counter

from events.connect import connect
from jobs.actors import TURN_MS
from jobs.broker import Doorbell, open_broker
from jobs.limits import MAX_PENDING
from jobs.tasks import Task
from tests.acceptance.faults.conftest import MakeCluster
from tests.support import lane_child
from tests.support.cluster import SLACK_MS, Cluster
from tests.support.gates import Gates
from tests.support.redis_proxy import RedisProxy
from tests.support.waiting import until

WAIT_MS = 5_000 + 2_000  # a doorbell that led to nothing, and the sweep that finds it


def waited_ms(task: Task) -> int:
    return (task.started_ms or 0) - task.created_ms


def ring(cluster: Cluster, times: int) -> None:
    doorbell = Doorbell(open_broker(cluster.settings), cluster.state)
    for number in range(times):
        doorbell.ring(cluster.ids[0], number)


def test_a_lane_whose_doorbell_was_fetched_and_lost_on_the_way_is_served_within_seconds(
    make_cluster: MakeCluster, proxy: RedisProxy
):
    cluster = make_cluster()
    cluster.start_worker(redis_url=proxy.url(0), broker_url=proxy.url(1))
    lost = proxy.lose_reply("fetch", "run_lane")

    (task,) = cluster.wait_ended([cluster.submit()])

    assert lost.happened.is_set()
    assert (task.status, task.attempt) == ("completed", 1)
    assert waited_ms(task) <= WAIT_MS + SLACK_MS
    assert cluster.violations() == []


def test_a_task_whose_client_died_before_it_rang_starts_within_seconds(make_cluster: MakeCluster):
    cluster = make_cluster()
    cluster.start_worker()
    task_id, _ = cluster.by_hand().submit("I prefer short answers.")
    task = cluster.by_hand().task(task_id)
    assert task is not None
    cluster.note_accepted(task)

    (ended,) = cluster.wait_ended([task])

    assert (ended.status, ended.attempt) == ("completed", 1)
    assert waited_ms(ended) <= WAIT_MS + SLACK_MS
    assert cluster.violations() == []


def test_all_that_is_queued_runs_in_order_after_the_broker_lost_everything(make_cluster: MakeCluster):
    cluster = make_cluster(8, agent_command=lane_child.command(), threads="2")
    tasks = [cluster.submit(number, "10") for _ in range(5) for number in range(8)]
    assert cluster.doorbells() == 8
    connect(cluster.redis.broker_url).flushdb()
    cluster.start_worker()
    cluster.start_worker()

    ended = cluster.wait_ended(tasks)

    assert {(task.status, task.attempt) for task in ended} == {("completed", 1)}
    assert cluster.violations() == []


def test_a_thousand_doorbells_for_one_lane_neither_overlap_nor_reorder_its_tasks(
    make_cluster: MakeCluster, gates: Gates
):
    cluster = make_cluster()
    tasks = cluster.submit_many(0, 10)
    ring(cluster, 1000)
    cluster.start_worker()
    cluster.start_worker()

    ended = cluster.wait_ended(tasks)
    until(lambda: cluster.doorbells() == 0)

    assert [(task.status, task.attempt) for task in ended] == [("completed", 1)] * 10
    assert [task for task, _ in cluster.history().starts] == [task.id for task in tasks]
    assert cluster.violations() == []


def test_a_worker_that_does_not_serve_a_lane_passes_its_doorbell_on(make_cluster: MakeCluster):
    cluster = make_cluster(2)
    workers = [cluster.start_worker(workspaces=str(folder), threads="1") for folder in cluster.folders]
    tasks = [cluster.submit(number % 2, f"Part {number} is in stock.") for number in range(12)]

    ended = cluster.wait_ended(tasks)

    assert {(task.status, task.attempt) for task in ended} == {("completed", 1)}
    assert sum(worker.count_logged("lane_rung_again") for worker in workers) == 0
    assert cluster.violations() == []


def test_ten_times_more_lanes_than_threads_take_turns_without_a_surplus_doorbell(make_cluster: MakeCluster):
    lanes, threads, rounds = 40, 4, 2
    cluster = make_cluster(lanes, agent_command=lane_child.command(), threads=str(threads // 2))
    tasks = [cluster.submit(number, "600") for _ in range(rounds) for number in range(lanes)]
    workers = [cluster.start_worker(), cluster.start_worker()]
    depths: list[int] = []

    def all_ended() -> bool:
        depths.append(cluster.doorbells())
        return all(
            cluster.state.zcard(cluster.by_hand(number).keys.done) == rounds for number in range(lanes)
        )

    until(all_ended, limit_s=90)

    assert {(task.status, task.attempt) for task in cluster.wait_ended(tasks)} == {("completed", 1)}
    assert sum(worker.count_logged("lane_rung_again") for worker in workers) == 0
    assert max(depths) <= lanes + threads
    assert most_turns_of_others(starts_of_all(cluster)) <= 2
    assert cluster.violations() == []


def starts_of_all(cluster: Cluster) -> list[str]:
    """Lanes in the order of all starts."""
    histories = [cluster.history(number) for number in range(len(cluster.ids))]
    starts = [
        (step.at_ms, lane.workspace)
        for lane in histories
        for step in lane.steps
        if step.type == "task_running"
    ]
    return [lane for _, lane in sorted(starts)]


def most_turns_of_others(starts: list[str]) -> int:
    """How many turns another lane got at most between two turns of a lane that had work all the time."""
    most = 0
    for lane in set(starts):
        turns = [number for number, each in enumerate(starts) if each == lane]
        for before, after in itertools.pairwise([-1, *turns]):
            between = Counter(starts[before + 1 : after])
            most = max([most, *between.values()])
    return most


def test_a_lane_that_always_has_work_gets_no_second_turn_before_the_others_had_one(make_cluster: MakeCluster):
    others = 60
    cluster = make_cluster(1 + others, agent_command=lane_child.command(), threads="4")
    longer_than_a_turn = str(TURN_MS + 20)
    busy = [cluster.submit(0, longer_than_a_turn) for _ in range(MAX_PENDING)]
    rest = [cluster.submit(1 + number, longer_than_a_turn) for number in range(others)]
    cluster.start_worker()

    cluster.wait_ended([*busy, *rest])

    starts = starts_of_all(cluster)
    last_of_others = max(starts.index(lane) for lane in cluster.ids[1:])
    assert starts[:last_of_others].count(cluster.ids[0]) <= 2
    assert cluster.violations() == []
