"""Several instances on one Redis are one service: any of them answers for what another was told."""

import http.client
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.acceptance.faults.conftest import MakeCluster
from tests.support.child_processes import children_of
from tests.support.cluster import START_LIMIT_S, Cluster
from tests.support.gates import Gates
from tests.support.service import kill
from tests.support.socket_client import open_socket
from tests.support.waiting import until
from tests.support.web_server import AUTHORIZED, WebServer, running_web

REMEMBER = "/workspace/memory/remember"
EVENTS = "/workspace/events"

Payload = dict[str, Any]
Next = Callable[[], Payload]


@contextmanager
def two_instances(cluster: Cluster, folder: Path) -> Iterator[list[WebServer]]:
    """Two web processes and two workers."""
    with ExitStack() as stack:
        webs = []
        for name in ("web-a", "web-b"):
            (folder / name).mkdir()
            url = cluster.redis.state_url
            webs.append(stack.enter_context(running_web(url, cluster.folders, folder=folder / name)))
        for web in webs:
            until(lambda: answers(web), limit_s=START_LIMIT_S)  # noqa: B023 - asked before the next
        for _ in range(2):
            cluster.start_worker()
        yield webs


def answers(web: WebServer) -> bool:
    try:
        return web.request("GET", "/health").status == 200
    except TimeoutError:
        return False


@contextmanager
def listening(web: WebServer, kind: str, after: int, epoch: str = "") -> Iterator[tuple[Next, str]]:
    """The next event from ``after`` on, over the one or the other, and the log's epoch."""
    cursor = {"Last-Event-ID": str(after), "X-Qwen-Event-Epoch": epoch}
    if kind == "stream":
        with web.stream(EVENTS, cursor) as stream:
            assert stream.block() == "retry: 3000"
            yield stream.payload, stream.headers["x-qwen-event-epoch"]
    else:
        with open_socket(web, f"{EVENTS}/ws", AUTHORIZED | cursor) as client:
            yield client.payload, client.headers["x-qwen-event-epoch"]


def take_until(listen: Next, is_last: Callable[[Payload], bool]) -> list[Payload]:
    """Events of the log up to the one that is the last."""
    found: list[Payload] = []
    while not found or not is_last(found[-1]):
        payload = listen()
        assert payload["type"] != "state_resync_required"
        if "id" in payload:
            found.append(payload)
    return found


def task_of(web: WebServer, task_id: str) -> Payload:
    task: Payload = web.request("GET", f"{REMEMBER}/{task_id}").json
    return task


def post(web: WebServer, content: str) -> str:
    answer = web.post(REMEMBER, {"content": content})
    assert answer.status == 202, answer.raw
    task_id: str = answer.json["taskId"]
    return task_id


def test_what_is_posted_on_one_is_polled_cancelled_and_heard_on_the_other(
    make_cluster: MakeCluster, gates: Gates, tmp_path: Path
):
    cluster = make_cluster(agent_command=gates.agent_command)
    gate = gates.set("sealed", cluster.folders[0].name)
    with two_instances(cluster, tmp_path) as (here, there), ExitStack() as stack:
        readers = [
            stack.enter_context(listening(web, kind, after=0))[0]
            for web in (here, there)
            for kind in ("stream", "socket")
        ]
        held = post(here, "I prefer short answers.")
        gate.wait_taken()
        dropped = post(here, "I prefer long answers.")
        assert task_of(there, held)["status"] == "running"
        assert task_of(there, dropped)["status"] == "queued"

        assert there.post(f"{REMEMBER}/{dropped}/cancel", {}).status == 202
        gate.open()
        until(lambda: task_of(there, held)["status"] == "completed")

        heard = [take_until(listen, changes_memory) for listen in readers]
        assert task_of(here, dropped)["error"]["code"] == "task_cancelled"

    assert [event["id"] for event in heard[0]] == list(range(1, len(heard[0]) + 1))
    assert all(events == heard[0] for events in heard)
    assert [(event["type"], event["data"]["taskId"]) for event in heard[0]] == [
        ("task_queued", held),
        ("task_running", held),
        ("task_queued", dropped),
        ("task_cancelled", dropped),
        ("task_completed", held),
        ("memory_changed", held),
    ]


def test_who_listened_to_an_instance_that_was_killed_goes_on_at_another_without_loss_or_repeat(
    make_cluster: MakeCluster, tmp_path: Path
):
    cluster = make_cluster()
    with two_instances(cluster, tmp_path) as (here, there), ExitStack() as stack:
        opened = {kind: stack.enter_context(listening(here, kind, after=0)) for kind in ("stream", "socket")}
        tasks = [post(there, f"Part {number} has number {number}.") for number in range(4)]
        heard = {kind: take_until(listen, changes_memory) for kind, (listen, _) in opened.items()}
        for pid in [*children_of(here.process.pid), here.process.pid]:
            kill(pid)
        tasks += [post(there, f"Part {number} has number {number}.") for number in range(4, 6)]
        for kind, (listen, epoch) in opened.items():
            heard[kind] += heard_before_the_end(listen)
            with listening(there, kind, heard[kind][-1]["id"], epoch) as (listen_there, epoch_there):
                heard[kind] += take_until(
                    listen_there,
                    lambda event: changes_memory(event) and event["data"]["taskId"] == tasks[-1],
                )
            assert epoch_there == epoch

    assert heard["socket"] == heard["stream"]
    events = heard["stream"]
    assert [event["id"] for event in events] == list(range(1, len(events) + 1))
    assert [event["data"]["taskId"] for event in events if changes_memory(event)] == tasks
    assert cluster.violations() == []


def changes_memory(event: Payload) -> bool:
    return bool(event["type"] == "memory_changed")


def heard_before_the_end(listen: Next) -> list[Payload]:
    """What was on its way when the other side died."""
    found: list[Payload] = []
    try:
        while True:
            payload = listen()
            found += [payload] if "id" in payload else []
    except (http.client.HTTPException, OSError, KeyError, AssertionError):
        return found  # however each of the two kinds ends in mid-air
