"""The relay and its client lose their connections again and again: each event arrives once, in order."""

import threading
from pathlib import Path

from tests.acceptance.faults.conftest import MakeCluster
from tests.support.cluster import Cluster
from tests.support.waiting import until
from tests.support.web_server import WebServer, running_web

EVENTS = 2_000
READ_AT_ONCE = 90  # so that there are more than twenty connections
MAX_AHEAD = 150
PATH = "/workspace/events"


class Feed:
    """Makes events, a few more than the reader has seen."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.seen = 0
        self._made = 0
        self.thread = threading.Thread(target=self._make, daemon=True)
        self.thread.start()

    def _make(self) -> None:
        while self._made < EVENTS:
            until(lambda: self._made - self.seen < MAX_AHEAD, limit_s=60)
            for _ in range(10):
                self._cluster.submit()
            self._cluster.work_by_hand()
            self._made += 30


def cut_relay_off(cluster: Cluster) -> None:
    """Kill the relay's connection to Redis; wait for it to have one."""
    until(lambda: cluster.state.execute_command("CLIENT", "KILL", "TYPE", "pubsub"))


def read(cluster: Cluster, web: WebServer, after: int, feed: Feed) -> list[int]:
    """Ids of some more events, read on a new connection that starts after the last one."""
    ids: list[int] = []
    with web.stream(PATH, {"Last-Event-ID": str(after)}) as stream:
        while len(ids) < READ_AT_ONCE and after + len(ids) < EVENTS:
            event = stream.event()
            if "id" in event:
                ids.append(int(event["id"]))
                feed.seen = ids[-1]
                if len(ids) == READ_AT_ONCE // 2:
                    cut_relay_off(cluster)
            else:  # how long to wait before the next connection, and where the past ends
                assert event.get("event", "retry") in ("retry", "replay_complete"), event
    return ids


def first_event(web: WebServer, after: int) -> str:
    """Type of the first event on a new connection."""
    with web.stream(PATH, {"Last-Event-ID": str(after)}) as stream:
        while "event" not in (event := stream.event()):
            pass
    return event["event"]


def test_two_thousand_events_arrive_once_and_in_order_through_twenty_lost_connections(
    make_cluster: MakeCluster, tmp_path: Path
):
    cluster = make_cluster()
    cluster.state.config_set("appendfsync", "everysec")  # durability is not the subject, and takes its time
    got: list[int] = []
    with running_web(cluster.redis.state_url, cluster.folders, folder=tmp_path) as web:
        feed = Feed(cluster)
        while len(got) < EVENTS:
            got += read(cluster, web, len(got), feed)
            cluster.recorder.record()
        feed.thread.join(60)
        from_the_start = first_event(web, 5)

    assert got == list(range(1, EVENTS + 1))
    assert from_the_start == "state_resync_required"
    assert cluster.violations() == []
