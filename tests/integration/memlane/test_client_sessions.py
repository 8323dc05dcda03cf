"""What the SDK does about sessions and client ids."""

import json
from datetime import UTC, datetime

import pytest

from memlane.errors import NotFound
from tests.support.scripted_client import STREAM, TASK, client_of, frames
from tests.support.scripted_service import Reply

ENTRY = {
    "sessionId": "d8320890-d4b9-4f6e-bbd5-1dff5df6fe69",
    "workspaceCwd": "/srv/w",
    "attached": True,
    "clientId": "client_7",
    "createdAt": "2026-01-01T00:00:00.000Z",
}
ENTERED, GONE = Reply(200, ENTRY), Reply(204, b"")
PATH = f"/session/{ENTRY['sessionId']}"


def test_who_takes_part_is_from_then_on_the_client_that_the_service_made():
    with client_of(ENTERED, Reply(202, TASK)) as (client, service):
        before = client.client_id
        session = client.attach()
        client.remember("tea")

    assert (before, client.client_id, session.entry.attached) == (None, "client_7", True)
    assert (service.requests[0].path, json.loads(service.requests[0].body)) == (
        "/session",
        {"sessionScope": "single"},
    )
    assert [seen.headers.get("X-Qwen-Client-Id") for seen in service.requests] == [None, "client_7"]


def test_a_session_of_ones_own_in_another_workspace_can_be_asked_for():
    with client_of(ENTERED) as (client, service):
        client.attach("/srv/w", shared=False)

    assert json.loads(service.requests[0].body) == {"sessionScope": "thread", "cwd": "/srv/w"}


def test_a_session_is_kept_alive():
    beat = {"sessionId": ENTRY["sessionId"], "clientId": "client_7", "lastSeenAt": 1_500}
    with client_of(ENTERED, Reply(200, beat)) as (client, service):
        kept = client.attach().heartbeat()

    assert kept.at == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)
    assert (service.requests[1].method, service.requests[1].path) == ("POST", f"{PATH}/heartbeat")


def test_the_end_of_a_block_ends_the_part_in_the_session():
    with client_of(ENTERED, GONE) as (client, service), client.attach():
        pass

    assert [(seen.method, seen.path) for seen in service.requests[1:]] == [("POST", f"{PATH}/detach")]


def test_a_session_is_closed_for_all():
    with client_of(ENTERED, GONE) as (client, service):
        client.attach().end()

    assert [(seen.method, seen.path) for seen in service.requests[1:]] == [("DELETE", PATH)]


def test_a_session_that_is_gone_is_told():
    gone = Reply(404, {"error": 'No session with id "x"', "code": "session_not_found"})
    with client_of(ENTERED, gone) as (client, _):
        session = client.attach()
        with pytest.raises(NotFound) as caught:
            session.end()

    assert caught.value.code == "session_not_found"


def test_the_events_of_a_session_end_with_it():
    stream = Reply(200, frames((4, "memory_changed"), (5, "session_closed"), (6, "task_queued")), STREAM)
    with client_of(ENTERED, stream) as (client, service):
        events = list(client.attach().events(last_event_id=3))

    assert [event.id for event in events] == [4, 5]
    assert service.requests[1].path == f"{PATH}/events"
    assert service.requests[1].headers["X-Qwen-Client-Id"] == "client_7"


def test_the_events_of_a_session_are_resumed_until_it_is_gone():
    first = Reply(200, frames((4, "memory_changed")), STREAM)
    with client_of(ENTERED, first, Reply(404, {"code": "session_not_found"})) as (client, service):
        events = client.attach().events(last_event_id=3)
        assert next(events).id == 4
        with pytest.raises(NotFound):
            next(events)

    assert service.requests[2].headers["Last-Event-ID"] == "4"
