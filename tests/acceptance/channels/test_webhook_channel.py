"""A webhook channel of a whole service: signed in, answered by the real agent, signed out."""

import json
import os
import signal

import httpx2
import pytest

from channels.adapters.webhook.signature import (
    DELIVERY_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    is_signed,
    sign,
)
from core.clock import wall_ms
from tests.support.channels.callback import running_callback
from tests.support.child_processes import channels_process, children_of
from tests.support.memlane_up import environment, running_memlane
from tests.support.waiting import until

SECRET = "s3cret"


@pytest.fixture
def service(tmp_path):
    """A service with a webhook channel; gives it, what it calls back, and how to post to it."""
    with running_callback() as callback:
        (tmp_path / "home").mkdir()
        team = {"type": "webhook", "token": SECRET, "callbackUrl": callback.url, "allowedUsers": ["u1"]}
        (tmp_path / "home" / "channels.json").write_text(json.dumps({"channels": {"team": team}}))
        with running_memlane(tmp_path, env=environment(tmp_path, MEMLANE_CHAT_IDLE_S="0.2")) as running:

            def post(text, *, delivery):
                body = json.dumps({"senderId": "u1", "chatId": "c1", "threadId": "t1", "text": text}).encode()
                stamp = str(wall_ms() // 1000)
                headers = {
                    "Content-Type": "application/json",
                    TIMESTAMP_HEADER: stamp,
                    DELIVERY_HEADER: delivery,
                    SIGNATURE_HEADER: sign(SECRET, stamp, body),
                }
                url = f"{running.url}/channels/team/inbound"
                return httpx2.post(url, content=body, headers=headers).status_code

            yield running, callback, post


@pytest.mark.usefixtures("unmeasured")
def test_what_is_said_is_remembered_and_found_and_answered_once(service):
    running, callback, post = service
    assert post("/remember I like green tea", delivery="d1") == 202
    until(lambda: callback.messages)
    assert post("Which tea?", delivery="d2") == 202
    assert post("Which tea?", delivery="d2") == 200
    until(lambda: len(callback.messages) == 2)

    remembered, answer = callback.messages
    assert "To take this back: /undo r" in remembered["text"]
    assert "green tea" in answer["text"]
    assert (answer["channel"], answer["chatId"], answer["threadId"]) == ("team", "c1", "t1")
    for headers, body in zip(callback.headers, callback.bodies, strict=True):
        assert is_signed(SECRET, headers[TIMESTAMP_HEADER], headers[SIGNATURE_HEADER], body=body)
    # the agent that answered goes once nobody has written for as long as that was configured
    until(lambda: not children_of(channels_process(running.process.pid)))


@pytest.mark.usefixtures("unmeasured")
def test_a_message_is_answered_although_the_process_that_serves_channels_was_killed(service):
    running, callback, post = service
    assert post("/who", delivery="d1") == 202
    until(lambda: callback.messages)
    os.kill(channels_process(running.process.pid), signal.SIGKILL)
    assert post("/status", delivery="d2") == 202

    def told(opening):
        return [message for message in callback.messages if message["text"].startswith(opening)]

    until(lambda: told("Session: "), limit_s=40)
    assert len(told("Channel: team")) == len(told("Session: ")) == 1
