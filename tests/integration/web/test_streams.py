"""Event streams: live, replay, heartbeat, leaving."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from core.workspaces import Workspaces
from memlane.embedded import EmbeddedRedis
from tests.support.lane_driver import LaneDriver
from tests.support.web_server import AUTHORIZED, EventStream, WebServer, running_web

EVENTS = "/workspace/events"
REMEMBER = "/workspace/memory/remember"


def queue(web: WebServer, prefix: str = "/workspace") -> str:
    answer = web.post(f"{prefix}/memory/remember", {"content": "x"})
    assert answer.status == 202
    task_id: str = answer.json["taskId"]
    return task_id


def last_id(web: WebServer) -> int:
    with web.stream(EVENTS, {"Last-Event-ID": "0"}) as stream:
        opened(stream)
        newest = 0
        while (payload := stream.payload())["type"] != "replay_complete":
            newest = payload["id"]
        return newest


def opened(stream: EventStream) -> EventStream:
    assert stream.block() == "retry: 3000"
    return stream


def until(stream: EventStream, accept: Callable[[str], bool]) -> str:
    while not accept(block := stream.block()):
        assert block, "the stream ended"
    return block


def test_a_stream_says_what_it_is(web: WebServer) -> None:
    with web.stream(EVENTS) as stream:
        assert stream.status == 200
        assert stream.headers["content-type"] == "text/event-stream"
        assert stream.headers["cache-control"] == "no-cache, no-transform"
        assert stream.headers["x-accel-buffering"] == "no"
        assert len(stream.headers["x-qwen-event-epoch"]) == 36
        assert len(stream.headers["x-qwen-sse-stream-id"]) == 36
        assert opened(stream).block() == ": heartbeat"


def test_a_finished_task_is_heard_of_at_once(web: WebServer, lane: LaneDriver) -> None:
    with web.stream(EVENTS) as stream:
        opened(stream)
        task_id = queue(web)
        changed = {
            "scope": "managed",
            "source": "workspace_memory_remember",
            "taskId": task_id,
            "touchedScopes": ["user"],
        }
        result = {"summary": "Done.", "filesTouched": ["/x"], "touchedScopes": ["user"]}
        lane.complete(task_id, result, memory_changed=changed)

        while (event := stream.event())["event"] != "memory_changed":
            assert "Done." not in event["data"]
    assert int(event["id"]) >= 1
    assert '"taskId":"' + task_id in event["data"]


def test_the_progress_of_a_running_task_is_told_and_shown_and_kept_by_no_log(
    web: WebServer, lane: LaneDriver
) -> None:
    progress = {"turn": 3, "maxTurns": 6, "filesTouched": 0}
    with web.stream(EVENTS) as stream:
        opened(stream)
        task_id = queue(web)
        lane.start(task_id)
        lane.tell_progress(turn=3)

        until(stream, lambda block: '"task_running"' in block and task_id in block)
        told = stream.payload()
        shown = web.request("GET", f"{REMEMBER}/{task_id}").json
        lane.complete(task_id)
        after = stream.payload()

    assert (told["type"], told["data"]["taskId"], told["data"]["progress"]) == (
        "task_progress",
        task_id,
        progress,
    )
    assert "id" not in told
    assert (shown["status"], shown["progress"]) == ("running", progress)
    assert after["type"] == "task_completed"
    assert "progress" not in web.request("GET", f"{REMEMBER}/{task_id}").json


def test_events_after_the_cursor_are_replayed_once(web: WebServer) -> None:
    before = last_id(web)
    task_id = queue(web)

    with web.stream(EVENTS, {"Last-Event-ID": str(before)}) as stream:
        first, done = stream_payloads(stream, 2)

    assert (first["id"], first["type"], first["data"]["taskId"]) == (before + 1, "task_queued", task_id)
    assert "id" not in done
    assert done["data"] == {"lastReplayedEventId": before + 1, "lastEventId": before + 1, "replayedCount": 1}


def stream_payloads(stream: EventStream, count: int) -> list[dict[str, Any]]:
    opened(stream)
    return [stream.payload() for _ in range(count)]


def test_a_reader_that_is_up_to_date_gets_an_empty_replay(web: WebServer) -> None:
    with web.stream(EVENTS, {"Last-Event-ID": str(last_id(web))}) as stream:
        (done,) = stream_payloads(stream, 1)

    assert (done["type"], done["data"]) == ("replay_complete", {"replayedCount": 0})


def test_a_cursor_from_the_future_asks_for_a_fresh_start(web: WebServer) -> None:
    queue(web)

    with web.stream(EVENTS, {"Last-Event-ID": "999999"}) as stream:
        resync, first = stream_payloads(stream, 2)

    assert resync["type"] == "state_resync_required"
    assert (resync["data"]["reason"], resync["data"]["lastDeliveredId"]) == ("epoch_reset", 999_999)
    assert first["id"] == resync["data"]["earliestAvailableId"] == 1


def test_a_cursor_of_another_epoch_asks_for_a_fresh_start(web: WebServer) -> None:
    queue(web)

    with web.stream(EVENTS, {"Last-Event-ID": "1", "X-Qwen-Event-Epoch": "other"}) as stream:
        (resync,) = stream_payloads(stream, 1)
        epoch = stream.headers["x-qwen-event-epoch"]
    with web.stream(EVENTS, {"Last-Event-ID": "0", "X-Qwen-Event-Epoch": epoch}) as stream:
        (first,) = stream_payloads(stream, 1)

    assert resync["data"]["reason"] == "epoch_reset"
    assert first["id"] == 1


@pytest.mark.parametrize("cursor", ["abc", "-1", "1.5", "99999999999999999999"])
def test_a_cursor_that_is_no_number_is_ignored(web: WebServer, cursor: str) -> None:
    queue(web)

    with web.stream(EVENTS, {"Last-Event-ID": cursor}) as stream:
        assert opened(stream).block() == ": heartbeat"


def test_a_workspace_hears_nothing_of_another(web: WebServer, workspaces: Workspaces) -> None:
    second = f"/workspaces/{list(workspaces)[1].id}"
    task_id = queue(web)

    with web.stream(f"{second}/events", {"Last-Event-ID": "0"}) as stream:
        opened(stream)
        seen = until(stream, lambda block: "replay_complete" in block or task_id in block)

    assert task_id not in seen


def test_a_client_id_that_is_unknown_does_not_matter_here(web: WebServer) -> None:
    with web.stream(EVENTS, {"X-Qwen-Client-Id": "client_nope"}) as stream:
        assert stream.status == 200


def test_head_opens_no_stream(web: WebServer) -> None:
    answer = web.request("HEAD", EVENTS)

    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.raw == b""


def open_streams(web: WebServer) -> int:
    """Established connections of the web worker, from the kernel's table."""
    port = f":{web.port:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(row[1].endswith(port) and row[3] in ("01", "08") for row in rows)


def test_a_reader_that_left_is_noticed_within_a_heartbeat(web: WebServer) -> None:
    with web.stream(EVENTS) as stream:
        opened(stream)
        with web.stream(EVENTS) as other:
            opened(other)
        # our side of the first stream beats; after two beats the server has looked at the other one, too
        for _ in range(2):
            assert stream.block() == ": heartbeat"
        assert open_streams(web) == 1


def test_a_stopping_server_ends_streams_and_idle_connections(redis_url: str, tmp_path: Path) -> None:
    with running_web(redis_url, [tmp_path], folder=tmp_path) as web, web.connect() as idle:
        idle.sendall(f"GET /health HTTP/1.1\r\nHost: localhost:{web.port}\r\n\r\n".encode())
        received = b""
        while not received.endswith(b'{"status":"ok"}'):
            received += idle.recv(4096)
        with web.stream(EVENTS) as stream:
            opened(stream)

            code = web.stop()

            assert (code, stream.block()) == (0, "")
            assert idle.recv(1) == b""
    log = web.log.read_text()
    assert "graceful timeout" not in log  # what gunicorn says when it had to force the end
    assert "Traceback" not in log


def test_streams_outlive_an_outage_of_storage(own_redis: EmbeddedRedis, tmp_path: Path) -> None:
    with (
        running_web(own_redis.state_url, [tmp_path], folder=tmp_path, heartbeat_s=0.2) as web,
        web.stream(EVENTS) as stream,
    ):
        opened(stream)
        own_redis.stop()
        assert stream.block() == ": heartbeat"
        refused = web.request("GET", EVENTS)
        own_redis.start()

        task_id = queue(web)

        assert task_id in until(stream, lambda block: "task_queued" in block)
    assert (refused.status, refused.json["code"]) == (503, "storage_unavailable")


def test_without_a_token_there_is_no_stream(web: WebServer) -> None:
    assert web.request("GET", EVENTS, headers={}).status == 401
    assert web.request("GET", EVENTS, headers={**AUTHORIZED, "Authorization": "Bearer x"}).status == 401
