"""Messages of chat services: design page "Channel layer", 5.3."""

import json
from collections.abc import Iterator

import pytest
from flask import Flask
from pydantic import SecretStr
from structlog.testing import capture_logs

from channels.adapters.webhook.door import WebhookDoor
from channels.adapters.webhook.signature import DELIVERY_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from core.clock import wall_ms
from core.workspaces import Workspaces
from events.chat.store import ChannelStore
from events.connect import connect
from tests.support.channels.keeping import keeping_in
from tests.support.lane import fresh_workspace_id
from tests.support.web_app import application
from web.routes.channels import ChannelDoors

BODY = json.dumps({"senderId": "u1", "chatId": "c1", "text": "hello"}).encode()
SECRET = "s3cret"
CHANNEL = "team%20chat"
JSON = "application/json"


@pytest.fixture
def store(redis_url: str) -> ChannelStore:
    return ChannelStore(connect(redis_url), fresh_workspace_id(), "team chat", max_waiting=1)


@pytest.fixture
def app(redis_url: str, workspaces: Workspaces, store: ChannelStore) -> Iterator[Flask]:
    doors = ChannelDoors(
        webhook={"team chat": WebhookDoor("team chat", SecretStr(SECRET), keeping_in(store))}
    )
    with application(redis_url, workspaces, doors=doors) as made:
        yield made


def posted(
    app,
    body=BODY,
    *,
    channel="team%20chat",
    secret=SECRET,
    delivery="d1",
    media="application/json",
    **headers,
):
    stamp = str(wall_ms() // 1000)
    signed = {
        TIMESTAMP_HEADER: stamp,
        DELIVERY_HEADER: delivery,
        SIGNATURE_HEADER: sign(secret, stamp, body),
        "Content-Type": media,
    }
    path = f"/channels/{channel}/inbound"
    return app.test_client().post(path, data=body, headers=signed | headers)


def waiting(store):
    return [json.loads(body)["text"] for _, body in store.read(after="0", wait_ms=None)]


def test_a_signed_message_is_stored_and_a_repeat_known(app, store):
    first, second = posted(app), posted(app)

    assert (first.status_code, first.get_json()) == (202, {"duplicate": False})
    assert (second.status_code, second.get_json()) == (200, {"duplicate": True})
    assert waiting(store) == ["hello"]


def test_a_wrong_signature_and_an_unknown_channel_are_answered_alike(app, store):
    wrong, unknown = posted(app, secret="other"), posted(app, channel="nobody")
    bare = app.test_client().post("/channels/nobody/inbound", data=b"x")

    assert wrong.status_code == unknown.status_code == bare.status_code == 401
    assert wrong.get_json() == unknown.get_json() == bare.get_json()
    assert waiting(store) == []


def test_why_a_message_was_refused_is_in_the_log_without_what_was_sent(app):
    with capture_logs() as lines:
        posted(app, secret="other")
        posted(app, channel="nobody")

    told = [line for line in lines if line["event"] == "channel_post_refused"]
    assert [(line["channel"], line["reason"]) for line in told] == [
        *(("team chat", "wrong_signature"), ("", "no_secret")),
    ]
    assert "hello" not in str(lines)


def test_a_bearer_token_is_no_signature(app, store):
    answer = posted(app, secret="other", Authorization="Bearer T")

    assert answer.status_code == 401
    assert waiting(store) == []


@pytest.mark.parametrize("body", [b"", b"{", b"{}", b'{"senderId": "u1", "chatId": "c1", "text": 3}'])
def test_what_is_signed_and_no_message_says_what_is_wrong(app, store, body):
    answer = posted(app, body)

    assert answer.status_code == 400
    assert answer.get_json()["code"] == "invalid_channel_message"
    assert waiting(store) == []


def test_another_type_than_json_is_refused(app, store):
    assert posted(app, media="text/plain").status_code == 415
    assert waiting(store) == []


def test_a_body_that_is_too_large_is_refused_unread(app, store):
    assert posted(app, b"x" * (10 * 1024 * 1024 + 1)).status_code == 413
    assert waiting(store) == []


def test_while_too_many_wait_the_sender_is_told_to_come_back(app, store):
    posted(app)
    answer = posted(app, delivery="d2")

    assert (answer.status_code, answer.get_json()["code"]) == (503, "channel_backlog_full")
    assert answer.headers["Retry-After"] == "30"
    assert waiting(store) == ["hello"]


def test_while_nothing_can_be_stored_the_sender_is_told_to_come_back(app, store):
    answer = posted(app, json.dumps({"senderId": "u1", "chatId": "c1", "text": "away"}).encode())

    assert (answer.status_code, answer.get_json()["code"]) == (503, "storage_unavailable")


def test_another_method_is_not_served(app):
    assert app.test_client().get("/channels/team/inbound").status_code == 405


@pytest.mark.parametrize(
    "path", ["/channels/a/b/inbound", "/channels//inbound", "/channels/inbound", "/channels/a/inboundx"]
)
def test_paths_beside_it_ask_for_a_token(app, path):
    assert app.test_client().post(path).status_code == 401
