"""Streams of client sessions: what a session hears, how they end, how many there may be."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from core.keys import LaneKeys
from core.workspaces import Workspaces
from events.connect import connect
from tests.support.client_sessions import NO_SESSION, close, enter, post
from tests.support.lane_driver import LaneDriver
from tests.support.web_server import AUTHORIZED, EventStream, WebServer

REMEMBER = "/workspace/memory/remember"


def opened(stream: EventStream) -> None:
    assert stream.status == 200
    assert stream.block() == "retry: 3000"


def test_a_session_hears_its_workspace(web: WebServer, own: Mapping[str, Any], lane: LaneDriver) -> None:
    with web.stream(f"/session/{own['sessionId']}/events") as stream:
        opened(stream)
        task_id = post(web, REMEMBER, {"content": "x"}, client=own["clientId"]).json["taskId"]
        changed = {"scope": "managed", "source": "workspace_memory_remember", "taskId": task_id}
        lane.complete(task_id, memory_changed={**changed, "touchedScopes": ["user"]})

        while (payload := stream.payload())["type"] != "memory_changed":
            pass

    assert payload["data"]["taskId"] == task_id
    assert payload["originatorClientId"] == own["clientId"]


def test_a_closed_session_ends_its_streams_on_every_instance_and_no_others(
    web: WebServer, another: WebServer, own: Mapping[str, Any]
) -> None:
    other = enter(web, sessionScope="thread")
    path = f"/session/{own['sessionId']}/events"
    with (
        web.stream(path) as here,
        another.stream(path) as there,
        another.stream(f"/session/{other['sessionId']}/events") as apart,
        web.stream("/workspace/events") as whole,
    ):
        for stream in (here, there, apart, whole):
            opened(stream)

        assert close(another, own["sessionId"], client=own["clientId"]).status == 204

        told = [here.event(), there.event()]
        assert (here.block(), there.block()) == ("", "")
        assert whole.payload()["type"] == "session_closed"
        task_id = post(web, REMEMBER, {"content": "x"}).json["taskId"]
        following = apart.payload()
    assert told[0] == told[1]
    envelope = json.loads(told[0]["data"])
    assert list(envelope) == ["id", "v", "type", "data", "originatorClientId", "_meta"]
    assert envelope["data"] == {
        "sessionId": own["sessionId"],
        "reason": "client_close",
        "closedBy": own["clientId"],
    }
    assert (following["type"], following["data"]["taskId"]) == ("task_queued", task_id)
    assert following["id"] == envelope["id"] + 1


def test_the_end_of_another_session_is_not_replayed(web: WebServer, own: Mapping[str, Any]) -> None:
    other = enter(web, sessionScope="thread")
    close(web, other["sessionId"])

    with web.stream(f"/session/{own['sessionId']}/events", {"Last-Event-ID": "0"}) as stream:
        opened(stream)
        types = []
        while (payload := stream.payload())["type"] != "replay_complete":
            types.append(payload["type"])

    assert "session_closed" not in types


def test_a_closed_session_can_not_be_listened_to(web: WebServer, own: Mapping[str, Any]) -> None:
    close(web, own["sessionId"])

    answer = web.request("GET", f"/session/{own['sessionId']}/events")

    assert (answer.status, answer.json["sessionId"]) == (404, own["sessionId"])


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ("abc", "`maxQueued` must be a decimal integer"),
        ("", "`maxQueued` must be a decimal integer"),
        ("-5", "`maxQueued` must be a decimal integer"),
        ("%D9%A1%D9%A7", "`maxQueued` must be a decimal integer"),
        ("15", "`maxQueued` must be in [16, 2048]"),
        ("2049", "`maxQueued` must be in [16, 2048]"),
        ("1" * 5000, "`maxQueued` must be in [16, 2048]"),
    ],
)
def test_how_far_a_reader_may_not_be_behind(
    web: WebServer, own: Mapping[str, Any], sent: str, message: str
) -> None:
    answer = web.request("GET", f"/session/{own['sessionId']}/events?maxQueued={sent}")

    assert answer.status == 400
    assert answer.json == {"error": message, "code": "invalid_max_queued"}


@pytest.mark.parametrize("sent", ["16", "2048"])
def test_how_far_a_reader_may_be_behind(web: WebServer, own: Mapping[str, Any], sent: str) -> None:
    with web.stream(f"/session/{own['sessionId']}/events?maxQueued={sent}") as stream:
        assert stream.status == 200


def test_all_instances_together_open_64_streams_of_a_session(
    web: WebServer,
    another: WebServer,
    redis_url: str,
    own: Mapping[str, Any],
    workspaces: Workspaces,
) -> None:
    places = LaneKeys(workspaces.primary.id).session_streams(own["sessionId"])
    path = f"/session/{own['sessionId']}/events"
    redis: Any = connect(redis_url)
    with web.stream(path) as stream, another.stream(path) as other:
        for one in (stream, other):
            opened(one)
        taken = redis.zcard(places)
        redis.zadd(places, {f"of a third instance {number}": 2**52 for number in range(62)})

        answer = another.request("GET", path)

    assert taken == 2
    assert (answer.status, answer.headers["retry-after"]) == (429, "5")
    assert answer.json == {
        "error": "EventBus subscriber limit reached (64)",
        "code": "subscriber_limit_exceeded",
        "limit": 64,
    }


def test_a_cursor_of_one_workspace_yields_nothing_of_it_in_another(
    web: WebServer, own: Mapping[str, Any], paths: list[Path]
) -> None:
    task_id = post(web, REMEMBER, {"content": "x"}).json["taskId"]
    with web.stream(f"/session/{own['sessionId']}/events", {"Last-Event-ID": "0"}) as stream:
        epoch = stream.headers["x-qwen-event-epoch"]
    other = enter(web, cwd=str(paths[1]))
    cursor = {"Last-Event-ID": "0", "X-Qwen-Event-Epoch": epoch}

    with web.stream(f"/session/{other['sessionId']}/events", cursor) as stream:
        opened(stream)
        seen = [stream.block()]
        while "replay_complete" not in seen[-1]:
            seen.append(stream.block())

    assert "epoch_mismatch" in seen[0]
    assert task_id not in "\n".join(seen)


def test_a_reader_that_takes_events_only_is_told_in_json_why_there_are_none(web: WebServer) -> None:
    headers = {**AUTHORIZED, "Accept": "text/event-stream"}

    answer = web.request("GET", f"/session/{NO_SESSION}/events", headers=headers)

    assert (answer.status, answer.json["code"]) == (404, "session_not_found")
