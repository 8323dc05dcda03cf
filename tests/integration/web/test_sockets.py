"""Events over WebSocket: the same as the streams, and an end for every client that misbehaves."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from wsproto.events import BytesMessage, CloseConnection, Ping, Pong, TextMessage

from core.workspaces import Workspaces
from tests.integration.web.test_streams import open_streams
from tests.support.client_sessions import NO_SESSION, close, enter
from tests.support.documents import ROOT, code_under
from tests.support.event_writer import EventWriter
from tests.support.lane_driver import LaneDriver
from tests.support.socket_client import ACCEPT, UPGRADE, SocketClient, open_socket
from tests.support.waiting import until
from tests.support.web_server import AUTHORIZED, TOKEN, EventStream, WebServer, running_web
from web.sockets import MAX_MESSAGE_BYTES

STREAM = "/workspace/events"
SOCKET = "/workspace/events/ws"
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
RESET = b"\1\0\0\0\0\0\0\0"  # as SO_LINGER: closing drops what was not sent, and resets


@pytest.fixture(scope="module")
def writer(redis_url: str, workspaces: Workspaces) -> EventWriter:
    """Writes to the primary workspace's log."""
    return EventWriter(redis_url, workspaces.primary.id)


def replayed(client: SocketClient) -> list[dict[str, Any]]:
    found = [client.payload()]
    while found[-1]["type"] != "replay_complete":
        found.append(client.payload())
    return found


def test_a_socket_says_what_it_is_and_compresses_nothing(web: WebServer) -> None:
    asked = {
        **AUTHORIZED,
        "Sec-WebSocket-Extensions": "permessage-deflate",
        "X-Request-ID": "mine",
        "traceparent": TRACEPARENT,
    }
    with open_socket(web, SOCKET, asked) as client, web.stream(STREAM) as stream:
        assert client.headers["sec-websocket-accept"] == ACCEPT
        assert "sec-websocket-extensions" not in client.headers
        assert client.headers["x-qwen-event-epoch"] == stream.headers["x-qwen-event-epoch"]
        assert client.headers["x-request-id"] == "mine"
        assert client.headers["traceparent"] == TRACEPARENT
        assert client.headers["x-content-type-options"] == "nosniff"
        assert client.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("named", [False, True])
def test_sockets_and_streams_tell_the_same(
    web: WebServer, workspaces: Workspaces, lane: LaneDriver, named: bool
) -> None:
    path = f"/workspaces/{workspaces.primary.id}/events/ws" if named else SOCKET
    with open_socket(web, path) as client, web.stream(STREAM) as stream:
        task_id = web.post("/workspace/memory/remember", {"content": "x"}).json["taskId"]
        lane.complete(task_id)

        told = [client.payload() for _ in range(3)]
        assert stream.block() == "retry: 3000"
        assert told == [stream.payload() for _ in range(3)]

    assert [event["type"] for event in told] == ["task_queued", "task_running", "task_completed"]
    assert {event["data"]["taskId"] for event in told} == {task_id}


@pytest.mark.parametrize("in_query", [False, True])
def test_a_client_resumes_from_its_cursor(web: WebServer, writer: EventWriter, in_query: bool) -> None:
    writer.append(2)
    with open_socket(web, f"{SOCKET}?lastEventId=0") as client:
        before = replayed(client)[-2]["id"]
        epoch = client.headers["x-qwen-event-epoch"]
        writer.append(2)
    query = f"?lastEventId={before}&epoch={epoch}" if in_query else ""
    headers = {} if in_query else {"Last-Event-ID": str(before), "X-Qwen-Event-Epoch": epoch}

    with open_socket(web, f"{SOCKET}{query}", AUTHORIZED | headers) as client:
        first, second, complete = replayed(client)

    assert [first["id"], second["id"]] == [before + 1, before + 2]
    assert complete["data"]["replayedCount"] == 2


def test_a_cursor_of_another_epoch_asks_for_a_fresh_start(web: WebServer, writer: EventWriter) -> None:
    writer.append()
    with open_socket(web, f"{SOCKET}?lastEventId=1&epoch=other") as client:
        resync = client.payload()

    assert (resync["type"], resync["data"]["reason"]) == ("state_resync_required", "epoch_reset")


@pytest.mark.parametrize("cursor", ["", "abc", "-1", "99999999999999999999", "%F0%9F%98%80"])
def test_a_cursor_that_is_no_number_is_ignored(web: WebServer, writer: EventWriter, cursor: str) -> None:
    with open_socket(web, f"{SOCKET}?lastEventId={cursor}") as client:
        writer.append()

        assert client.payload()["type"] == "memory_changed"


def test_a_workspace_hears_nothing_of_another(web: WebServer, workspaces: Workspaces) -> None:
    task_id = web.post("/workspace/memory/remember", {"content": "x"}).json["taskId"]

    with open_socket(web, f"/workspaces/{list(workspaces)[1].id}/events/ws?lastEventId=0") as client:
        assert task_id not in json.dumps(replayed(client))


@pytest.mark.parametrize(
    ("method", "changes", "status", "code"),
    [
        ("GET", {"Connection": "keep-alive", "Upgrade": ""}, 426, "upgrade_required"),
        ("GET", {"Upgrade": "h2c"}, 426, "upgrade_required"),
        ("GET", {"Sec-WebSocket-Version": "8"}, 426, "upgrade_required"),
        ("GET", {"Sec-WebSocket-Version": ""}, 426, "upgrade_required"),
        ("GET", {"Sec-WebSocket-Key": ""}, 400, "invalid_request"),
        ("GET", {"Sec-WebSocket-Key": "c2hvcnQ="}, 400, "invalid_request"),
        ("GET", {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ"}, 400, "invalid_request"),
        ("GET", {"Sec-WebSocket-Key": "\xe4" * 24}, 400, "invalid_request"),
        ("GET", {"Content-Length": "2"}, 400, "invalid_request"),
        ("GET", {"Authorization": ""}, 401, "unauthorized"),
        ("GET", {"Authorization": "Bearer x"}, 401, "unauthorized"),
        ("GET", {"Origin": "https://evil.example"}, 403, "forbidden_origin"),
        ("GET", {"Origin": "null"}, 403, "forbidden_origin"),
        ("GET", {"Host": "evil.example"}, 403, "forbidden_host"),
        ("POST", {}, 405, "method_not_allowed"),
    ],
)
def test_what_can_be_no_socket_of_ours_is_refused_in_json(
    web: WebServer, method: str, changes: dict[str, str], status: int, code: str
) -> None:
    headers = {**AUTHORIZED, **UPGRADE, **changes}
    body = b"{}" if "Content-Length" in changes else None

    answer = web.request(method, SOCKET, headers=headers, body=body)

    assert (answer.status, answer.json["code"]) == (status, code)
    if status == 426:
        assert answer.headers["upgrade"] == "websocket"
        assert answer.headers["connection"] == "upgrade"
        assert answer.headers["sec-websocket-version"] == "13"


def test_head_opens_no_socket(web: WebServer) -> None:
    answer = web.request("HEAD", SOCKET)

    assert (answer.status, answer.raw) == (426, b"")


def test_a_workspace_that_is_not_served_has_no_socket(web: WebServer) -> None:
    answer = web.request("GET", "/workspaces/nope/events/ws", headers={**AUTHORIZED, **UPGRADE})

    assert (answer.status, answer.json["code"]) == (400, "workspace_mismatch")


def test_a_page_of_our_own_origin_may_open_one(web: WebServer) -> None:
    with open_socket(web, SOCKET, {**AUTHORIZED, "Origin": f"http://localhost:{web.port}"}) as client:
        assert client.headers["upgrade"] == "websocket"


def test_a_ping_is_answered_while_nothing_happens(web: WebServer) -> None:
    with open_socket(web, SOCKET) as client:
        client.send(Ping(b"are you there"))

        assert client.event() == Pong(b"are you there")


def test_what_a_client_says_is_ignored(web: WebServer, writer: EventWriter) -> None:
    with open_socket(web, SOCKET) as client:
        for _ in range(200):
            client.send(TextMessage("x" * MAX_MESSAGE_BYTES))
            client.send(BytesMessage(b"x"))
        writer.append()

        assert client.payload()["type"] == "memory_changed"


def too_long_at_once(client: SocketClient) -> None:
    client.send(TextMessage("x" * (MAX_MESSAGE_BYTES + 1)))


def too_long_in_parts(client: SocketClient) -> None:
    for _ in range(MAX_MESSAGE_BYTES // 1000 + 1):
        client.send(BytesMessage(b"x" * 1000, message_finished=False))


def without_mask(client: SocketClient) -> None:
    client.peer.sendall(b"\x81\x01a")


def without_sense(client: SocketClient) -> None:
    client.peer.sendall(b"\xff" * 20)


def with_no_text(client: SocketClient) -> None:
    client.peer.sendall(b"\x81\x81\x00\x00\x00\x00\xff")


@pytest.mark.parametrize(
    ("misbehave", "code"),
    [
        (too_long_at_once, 1009),
        (too_long_in_parts, 1009),
        (without_mask, 1002),
        (without_sense, 1002),
        (with_no_text, 1007),
    ],
)
def test_a_client_that_breaks_the_rules_is_told_and_cut_off(
    web: WebServer, misbehave: Any, code: int
) -> None:
    with open_socket(web, SOCKET) as client:
        misbehave(client)

        assert client.close_code() == code
        assert client.is_cut()


def test_a_close_is_answered_with_its_code_and_ends_the_connection(web: WebServer) -> None:
    with open_socket(web, SOCKET) as client:
        client.send(CloseConnection(4000, "enough"))

        assert client.close_code() == 4000
        assert client.is_cut()


def test_a_client_that_answers_no_ping_is_cut_off(redis_url: str, tmp_path: Path) -> None:
    with (
        running_web(redis_url, [tmp_path], folder=tmp_path, ping_s=0.2) as web,
        open_socket(web, SOCKET) as client,
    ):
        assert isinstance(client.event(), Ping)

        assert client.close_code() == 1008
        assert client.is_cut()


@pytest.mark.parametrize("linger", [b"\0" * 8, RESET])
def test_a_client_that_vanished_gives_its_place_up(web: WebServer, linger: bytes) -> None:
    with open_socket(web, SOCKET) as client:
        until(lambda: open_streams(web) == 1)
        client.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)

    until(lambda: open_streams(web) == 0)


def test_clients_that_vanish_before_they_are_let_in_do_no_harm(web: WebServer) -> None:
    lines = [f"GET {SOCKET} HTTP/1.1", f"Host: localhost:{web.port}"]
    lines += [f"{name}: {value}" for name, value in (AUTHORIZED | UPGRADE).items()]
    for _ in range(20):
        with web.connect() as peer:
            peer.sendall("\r\n".join([*lines, "", ""]).encode())
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)

    until(lambda: open_streams(web) == 0)
    assert "Traceback" not in web.log.read_text()


def test_a_large_event_arrives_whole_whatever_is_sent_between(
    web: WebServer, redis_url: str, workspaces: Workspaces
) -> None:
    second = list(workspaces)[1].id
    payload = json.dumps({"n": "x" * 3_000_000})
    with open_socket(web, f"/workspaces/{second}/events/ws") as client:
        EventWriter(redis_url, second).append(payload=payload)
        for _ in range(100):
            client.send(Ping(b"?"))

        assert client.payload()["data"] == json.loads(payload)


@pytest.mark.parametrize("kind", ["stream", "socket"])
def test_a_reader_that_stops_reading_is_sent_away_when_it_reads_again(
    web: WebServer, redis_url: str, workspaces: Workspaces, kind: str
) -> None:
    second = list(workspaces)[1].id
    writer, path = EventWriter(redis_url, second), f"/workspaces/{second}/events"
    facts = {"scope": "managed", "source": "workspace_memory_remember", "touchedScopes": ["user"]}
    payload = json.dumps({**facts, "taskId": "x" * 8_000})
    with (
        web.stream(path) if kind == "stream" else open_socket(web, f"{path}/ws") as idle,
        open_socket(web, f"{path}/ws") as quick,
    ):
        for _ in range(30):  # far more than the kernel keeps of a stream
            writer.append(20, payload=payload)
            for _ in range(20):
                assert quick.payload()["type"] == "memory_changed"

        if isinstance(idle, EventStream):
            assert idle.block() == "retry: 3000"
        seen = [idle.payload()]
        while seen[-1]["type"] != "client_evicted":
            seen.append(idle.payload())
    ids = [event["id"] for event in seen if "id" in event]
    assert ids == list(range(ids[0], ids[0] + len(ids)))
    assert len(ids) < 600


def test_a_client_that_is_too_slow_is_told_and_closed_to_come_again(
    web: WebServer, writer: EventWriter
) -> None:
    with open_socket(web, SOCKET) as client:
        writer.append(300)  # at once: nobody can have taken one before all are there
        evicted = client.payload()

        assert (evicted["type"], evicted["data"]["reason"]) == ("client_evicted", "queue_overflow")
        assert client.close_code() == 1013


def test_a_session_is_heard_on_a_socket_until_it_is_closed(
    web: WebServer, workspaces: Workspaces, writer: EventWriter
) -> None:
    entry = enter(web, cwd=workspaces.primary.path, sessionScope="thread")
    with open_socket(web, f"/session/{entry['sessionId']}/events/ws?maxQueued=16") as client:
        writer.append()
        first = client.payload()
        assert close(web, entry["sessionId"], client=entry["clientId"]).status == 204
        last = client.payload()

        assert client.close_code() == 1000
        assert client.is_cut()
    assert [event["type"] for event in (first, last)] == ["memory_changed", "session_closed"]


@pytest.mark.parametrize(
    ("session", "query", "changes", "status", "code"),
    [
        (NO_SESSION, "", {}, 404, "session_not_found"),
        (None, "?maxQueued=15", {}, 400, "invalid_max_queued"),
        (None, "", {"Upgrade": "h2c"}, 426, "upgrade_required"),
        (None, "", {"Authorization": ""}, 401, "unauthorized"),
    ],
)
def test_a_socket_of_a_session_is_refused_in_json(
    web: WebServer, session: str | None, query: str, changes: dict[str, str], status: int, code: str
) -> None:
    path = f"/session/{session or enter(web)['sessionId']}/events/ws{query}"

    answer = web.request("GET", path, headers={**AUTHORIZED, **UPGRADE, **changes})

    assert (answer.status, answer.json["code"]) == (status, code)


def test_the_example_of_the_page_shows_events(web: WebServer, writer: EventWriter) -> None:
    (example,) = code_under("WebSocket", "python", page=ROOT / "docs" / "events.md")
    writer.append(payload='{"n":"of the example"}')
    environment = {**os.environ, "MEMLANE_URL": f"http://127.0.0.1:{web.port}", "MEMLANE_TOKEN": TOKEN}

    with subprocess.Popen([sys.executable, "-c", example], env=environment, stdout=subprocess.PIPE) as shown:
        assert shown.stdout is not None
        lines = iter(shown.stdout.readline, b"")
        assert any(b"memory_changed {'n': 'of the example'}" in line for line in lines)
        shown.terminate()


def test_a_stopping_server_closes_its_sockets(redis_url: str, tmp_path: Path) -> None:
    with (
        running_web(redis_url, [tmp_path], folder=tmp_path) as web,
        open_socket(web, SOCKET) as polite,
        open_socket(web, SOCKET) as deaf,
    ):
        web.process.terminate()

        assert polite.close_code() == 1001
        polite.send(CloseConnection(1001))
        assert polite.is_cut()
        assert web.stop() == 0
        assert deaf.close_code() == 1001
    log = web.log.read_text()
    assert "graceful timeout" not in log  # what gunicorn says when it had to force the end
    assert "Traceback" not in log
