"""Events that Slack posts: design page "Channel layer", 5.2."""

import json
from collections.abc import Iterator

import pytest
from flask import Flask
from pydantic import SecretStr

from channels.adapters.slack.door import SlackDoor
from channels.adapters.slack.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from channels.signing import WINDOW_S
from core.clock import wall_ms
from core.workspaces import Workspaces
from events.chat.store import ChannelStore
from events.connect import connect
from tests.support.channels.keeping import keeping_in
from tests.support.lane import fresh_workspace_id
from tests.support.web_app import application
from web.routes.channels import ChannelDoors

SECRET = "signing-s3cret"


@pytest.fixture
def store(redis_url: str) -> ChannelStore:
    return ChannelStore(connect(redis_url), fresh_workspace_id(), "team chat", max_waiting=2)


@pytest.fixture
def app(redis_url: str, workspaces: Workspaces, store: ChannelStore) -> Iterator[Flask]:
    doors = ChannelDoors(slack={"team chat": SlackDoor("team chat", SecretStr(SECRET), keeping_in(store))})
    with application(redis_url, workspaces, doors=doors) as made:
        yield made


def event(text="hello", *, event_id="Ev1", kind="message", ts="5.5"):
    told = {"type": kind, "channel": "C1", "user": "U1", "text": text, "ts": ts}
    return json.dumps({"type": "event_callback", "event_id": event_id, "event": told}).encode()


def posted(
    app, body, *, channel="team%20chat", secret=SECRET, shift_s=0, media="application/json", **headers
):
    stamp = str(wall_ms() // 1000 + shift_s)
    signed = {
        TIMESTAMP_HEADER: stamp,
        SIGNATURE_HEADER: sign(secret, stamp, body),
        "Content-Type": media,
    }
    path = f"/channels/{channel}/slack/events"
    return app.test_client().post(path, data=body, headers=signed | headers)


def waiting(store):
    return [json.loads(body)["text"] for _, body in store.read(after="0", wait_ms=None)]


def test_slack_tries_an_address_with_a_challenge(app, store):
    answer = posted(app, b'{"type": "url_verification", "challenge": "3eZbrw1a"}')

    assert (answer.status_code, answer.get_json()) == (200, {"stored": False, "challenge": "3eZbrw1a"})
    assert waiting(store) == []


def test_an_event_is_stored_and_its_repeat_known_although_it_is_marked_as_one(app, store):
    first = posted(app, event())
    second = posted(app, event(), **{"X-Slack-Retry-Num": "1", "X-Slack-Retry-Reason": "http_timeout"})

    assert (first.status_code, first.get_json()) == (202, {"stored": True})
    assert (second.status_code, second.get_json()) == (200, {"stored": False})
    assert waiting(store) == ["hello"]


def test_a_repeat_of_what_never_arrived_is_taken(app, store):
    answer = posted(app, event(), **{"X-Slack-Retry-Num": "3", "X-Slack-Retry-Reason": "http_error"})

    assert answer.status_code == 202
    assert waiting(store) == ["hello"]


def test_a_mention_that_comes_as_two_events_is_one_message(app, store):
    posted(app, event(event_id="Ev1", kind="app_mention"))
    answer = posted(app, event(event_id="Ev2"))

    assert answer.status_code == 200
    assert waiting(store) == ["hello"]


def test_a_request_that_is_replayed_within_its_time_changes_nothing(app, store):
    statuses = [posted(app, event()).status_code for _ in range(3)]

    assert statuses == [202, 200, 200]
    assert waiting(store) == ["hello"]


def test_a_wrong_signature_and_an_unknown_channel_are_answered_alike(app, store):
    wrong, unknown = posted(app, event(), secret="other"), posted(app, event(), channel="nobody")
    bare = app.test_client().post("/channels/nobody/slack/events", data=b"x")

    assert wrong.status_code == unknown.status_code == bare.status_code == 401
    assert wrong.get_json() == unknown.get_json() == bare.get_json()
    assert waiting(store) == []


@pytest.mark.parametrize("shift_s", [-WINDOW_S - 5, WINDOW_S + 5])
def test_a_signature_of_another_time_is_refused(app, store, shift_s):
    assert posted(app, event(), shift_s=shift_s).status_code == 401
    assert waiting(store) == []


def test_a_body_is_not_read_before_it_is_known_who_signed_it(app, store):
    assert posted(app, b"{not json", secret="other").status_code == 401
    assert posted(app, b"{not json").status_code == 400


def test_a_bearer_token_is_no_signature(app, store):
    assert posted(app, event(), secret="other", Authorization="Bearer T").status_code == 401
    assert waiting(store) == []


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null"])
def test_what_is_signed_and_none_of_slack_s_says_so(app, store, body):
    answer = posted(app, body)

    assert (answer.status_code, answer.get_json()["code"]) == (400, "invalid_channel_message")
    assert waiting(store) == []


def test_another_type_than_json_is_refused(app, store):
    assert posted(app, event(), media="application/x-www-form-urlencoded").status_code == 415
    assert waiting(store) == []


def test_a_body_that_is_too_large_is_refused_unread(app, store):
    assert posted(app, b"x" * (10 * 1024 * 1024 + 1)).status_code == 413
    assert waiting(store) == []


def test_while_too_many_wait_slack_is_told_to_come_back(app, store):
    statuses = [posted(app, event(event_id=f"Ev{n}", ts=f"{n}.0")).status_code for n in range(3)]

    assert statuses == [202, 202, 503]
    assert waiting(store) == ["hello", "hello"]


def test_while_nothing_can_be_stored_slack_is_told_to_come_back(app):
    answer = posted(app, event("away"))

    assert (answer.status_code, answer.get_json()["code"]) == (503, "storage_unavailable")
    assert answer.headers["Retry-After"]


def test_a_slack_channel_takes_nothing_that_is_posted_for_webhooks(app, store):
    assert app.test_client().post("/channels/team%20chat/inbound", data=b"{}").status_code == 401
    assert waiting(store) == []
