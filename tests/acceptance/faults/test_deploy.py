"""Workers are replaced one by one under load."""

import operator
import threading

from jobs.tasks import Task
from tests.acceptance.faults.conftest import MakeCluster
from tests.support.cluster import Cluster
from tests.support.waiting import until

LANES = 4
OLD = {"threads": "2", "lane_batch": "1"}
NEW = {"threads": "4", "lane_batch": "8"}


class Load:
    """Keeps every lane in work until it is told to stop."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._submit, daemon=True)
        self.tasks = list[Task]()
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(20)

    def wait_for(self, ended: int) -> None:
        """Wait until in each lane so many tasks more have ended."""
        wanted = [done + ended for done in self._done()]
        until(lambda: all(map(operator.ge, self._done(), wanted)), limit_s=60)

    def _done(self) -> list[int]:
        keys = [self._cluster.by_hand(number).keys.done for number in range(LANES)]
        return [self._cluster.state.zcard(key) for key in keys]

    def _submit(self) -> None:
        for number in range(1_000_000):
            if self._stop.wait(0.02):
                return
            lane = number % LANES
            if self._cluster.state.llen(self._cluster.by_hand(lane).keys.pending) < 3:
                self.tasks.append(self._cluster.submit(lane, f"Part {number} of {lane} is green."))


def test_replacing_all_workers_under_load_loses_nothing_and_stops_no_lane(make_cluster: MakeCluster):
    cluster = make_cluster(LANES)
    old = [cluster.start_worker(host="one", **OLD), cluster.start_worker(host="two", **OLD)]
    load = Load(cluster)
    load.wait_for(ended=2)

    codes = []
    for host, worker in zip(("one", "two"), old, strict=True):
        cluster.start_worker(host=host, **NEW)
        worker.process.terminate()
        load.wait_for(ended=2)  # lanes move while it stops
        codes.append(worker.process.wait(60))
    load.wait_for(ended=2)
    load.stop()
    ended = cluster.wait_ended(load.tasks)

    assert codes == [0, 0]
    assert {(task.status, task.attempt) for task in ended} == {("completed", 1)}
    assert sorted(cluster.commits()) == sorted(task.id for task in load.tasks)
    assert cluster.violations() == []
