import pytest

from memlane.errors import MemlaneApiError, Unauthorized, Unavailable
from tests.support.scripted_client import STREAM, client_of, frames
from tests.support.scripted_service import Reply


def test_events_are_resumed_where_the_stream_broke():
    first = Reply(200, frames((4, "task_queued"), (5, "task_running")), STREAM)
    away = Reply(503, {})
    lost = Reply(body=None)
    second = Reply(200, frames((6, "memory_changed"), (None, "replay_complete")), STREAM)
    with client_of(first, away, lost, second) as (client, service):
        stream = client.events(last_event_id=3)
        events = [next(stream) for _ in range(4)]
        stream.close()

    assert [(event.id, event.type) for event in events] == [
        (4, "task_queued"),
        (5, "task_running"),
        (6, "memory_changed"),
        (None, "replay_complete"),
    ]
    asked = [seen.headers.get("Last-Event-ID") for seen in service.requests[:4]]
    assert asked == ["3", "5", "5", "5"]
    assert service.requests[3].headers["X-Qwen-Event-Epoch"] == "epoch-1"


def test_events_from_now_on_ask_for_no_replay():
    with client_of(Reply(200, frames((9, "memory_changed")), STREAM)) as (client, service):
        stream = client.events(workspace="0295621f3cf988a7")
        assert next(stream).id == 9
        stream.close()

    assert service.requests[0].path == "/workspaces/0295621f3cf988a7/events"
    assert "Last-Event-ID" not in service.requests[0].headers


def test_a_first_connection_that_fails_is_told():
    with client_of(Reply(503, {})) as (client, _), pytest.raises(Unavailable):
        next(client.events())


def test_a_refused_stream_is_an_error():
    with client_of(Reply(401, {})) as (client, _), pytest.raises(Unauthorized):
        next(client.events())


def test_after_a_new_log_has_begun_all_that_it_has_is_asked_for():
    old = Reply(200, frames((7, "task_queued"), (None, "state_resync_required")), STREAM)
    new = Reply(200, frames((1, "task_running")), STREAM | {"X-Qwen-Event-Epoch": "epoch-2"})
    with client_of(old, new) as (client, service):
        stream = client.events(last_event_id=6)
        events = [next(stream) for _ in range(3)]
        stream.close()

    assert [event.id for event in events] == [7, None, 1]
    assert service.requests[1].headers["Last-Event-ID"] == "0"
    assert "X-Qwen-Event-Epoch" not in service.requests[1].headers


@pytest.mark.parametrize(
    "foreign",
    [
        Reply(200, b"<html>", {"Content-Type": "text/html"}),
        Reply(200, b"data: hello\n\n", {"Content-Type": "text/event-stream"}),
    ],
    ids=["page", "stream"],
)
def test_a_stream_of_another_service_is_told_apart(foreign):
    with client_of(foreign) as (client, _), pytest.raises(MemlaneApiError, match="is not a memlane service"):
        next(client.events())
