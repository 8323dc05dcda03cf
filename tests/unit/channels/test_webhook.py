"""Signed requests in both directions: design page "Channel layer", 5.3."""

import asyncio
import json
from typing import Any

import pytest
from pydantic import SecretStr

from channels.adapters.registry import open_channel
from channels.adapters.webhook.door import WebhookDoor
from channels.adapters.webhook.signature import (
    DELIVERY_HEADER,
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    is_signed,
    sign,
)
from channels.config import ChannelConfig
from channels.errors import ChannelConfigInvalid, DeliveryFailed, InvalidMessage
from channels.parts import ChannelParts
from channels.volatile import VolatileInbox
from core.clock import wall_ms
from tests.support.channels.callback import running_callback
from tests.support.channels.scene import HandTimers, StubbornPairing
from tests.support.channels.scripted_bridge import ScriptedBridge

SECRET = "s3cret"
BODY = b'{"senderId": "u1", "chatId": "c1", "text": "hello"}'


def now_s():
    return str(wall_ms() // 1000)


@pytest.fixture
def callback():
    with running_callback() as running:
        yield running


def test_a_signature_is_good_for_its_body_its_time_and_its_secret():
    stamp = now_s()
    signature = sign(SECRET, stamp, BODY)

    assert is_signed(SECRET, stamp, signature, body=BODY)
    assert not is_signed(SECRET, stamp, signature, body=BODY + b" ")
    assert not is_signed("other", stamp, signature, body=BODY)
    assert not is_signed(SECRET, str(int(stamp) + 1), signature, body=BODY)


@pytest.mark.parametrize(
    "cut", [lambda text: text[:-1], lambda text: text + "0", str.upper, lambda _: "", lambda _: "ü"]
)
def test_a_signature_that_is_a_little_off_is_wrong(cut):
    stamp = now_s()

    assert not is_signed(SECRET, stamp, cut(sign(SECRET, stamp, BODY)), body=BODY)


@pytest.mark.parametrize("off_s", [-301, 301])
def test_a_signature_is_good_for_five_minutes(off_s):
    stamp = str(int(now_s()) + off_s)

    assert not is_signed(SECRET, stamp, sign(SECRET, stamp, BODY), body=BODY)


@pytest.mark.parametrize("stamp", ["", "now", "-1", "1e9", "\uff11\uff12", "9" * 13, " 1"])
def test_a_time_that_is_none_is_wrong(stamp):
    assert not is_signed(SECRET, stamp, sign(SECRET, stamp, BODY), body=BODY)


def door(secret=SECRET):
    stored: list[Any] = []
    known: set[str] = set()

    def put(envelope, keys):
        if known.intersection(keys):
            return False
        known.update(keys)
        stored.append(envelope)
        return True

    return WebhookDoor("hook", SecretStr(secret), put), stored


def signed(body=BODY, *, delivery="d1", secret=SECRET):
    stamp = now_s()
    return {TIMESTAMP_HEADER: stamp, DELIVERY_HEADER: delivery, SIGNATURE_HEADER: sign(secret, stamp, body)}


def test_what_is_signed_is_let_in_and_nothing_else():
    opened, _ = door()

    assert opened.refusal(signed(), BODY) is None
    assert opened.refusal(signed(secret="other"), BODY) == "wrong_signature"
    assert opened.refusal({}, BODY) == "wrong_signature"


def test_a_channel_without_a_secret_lets_nobody_in():
    opened, _ = door(secret="")

    assert opened.refusal(signed(secret=""), BODY) == "no_secret"


def test_a_message_becomes_an_envelope():
    opened, stored = door()
    body = {
        "senderId": "u1",
        "senderName": "Ann",
        "chatId": "c1",
        "threadId": "t",
        "messageId": "m",
        "text": "hi",
        "isGroup": True,
        "isMentioned": True,
        "isReplyToBot": True,
        "referencedText": "before",
    }
    assert opened.take(signed(), json.dumps(body).encode())

    assert stored[0].to_wire() == body | {
        "channelName": "hook",
        "attachments": [],
        "alreadyPrefixed": False,
        "receipts": [],
    }


def test_who_has_no_name_is_named_by_the_id():
    opened, stored = door()
    opened.take(signed(), BODY)

    assert stored[0].sender_name == "u1"


def test_a_delivery_or_a_message_that_came_before_is_a_repeat():
    opened, stored = door()
    with_id = b'{"senderId": "u1", "chatId": "c1", "text": "x", "messageId": "m1"}'
    assert opened.take(signed(delivery="d1"), with_id)

    assert not opened.take(signed(delivery="d1"), BODY)
    assert not opened.take(signed(delivery="d2"), with_id)
    assert opened.take(signed(delivery="d3"), BODY)
    assert len(stored) == 2


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"3", b"{}", b'{"senderId": "u1", "chatId": "c1"}'),
        b'{"senderId": "", "chatId": "c1", "text": "x"}',
        b'{"senderId": 7, "chatId": "c1", "text": "x"}',
        b'{"senderId": "u1", "chatId": "c1", "text": ""}',
        b'{"senderId": "u1", "chatId": "c1", "text": "x", "isGroup": "yes"}',
        b'{"senderId": "u1", "chatId": "c1", "text": "x", "alreadyPrefixed": true}',
        b'{"senderId": "u1", "chatId": "c1", "text": "x", "attachments": []}',
        b'{"senderId": "u1", "chatId": "c1", "text": "\xff"}',
        b'{"senderId": "u1", "chatId": "c1", "text": "' + b"x" * 65_537 + b'"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_message_is_refused_and_not_stored(body):
    opened, stored = door()
    with pytest.raises(InvalidMessage):
        opened.take(signed(body), body)

    assert stored == []


@pytest.mark.parametrize("delivery", ["", "d" * 201])
def test_a_delivery_needs_a_name(delivery):
    opened, stored = door()
    with pytest.raises(InvalidMessage):
        opened.take(signed(delivery=delivery), BODY)

    assert stored == []


def channel(url, timers=None):
    config = ChannelConfig(
        name="hook", type="webhook", cwd="/srv", token=SecretStr(SECRET), extra={"callbackUrl": url}
    )
    parts = ChannelParts(pairing=StubbornPairing(), timers=timers or HandTimers())
    return open_channel(config, bridge=ScriptedBridge(), parts=parts, inbox=VolatileInbox())


async def sent(opened, timers, **facts):
    """Send a message while time passes; gives what became of it."""
    await opened.connect()
    sending = asyncio.create_task(opened.send_message("c1", "hello", **facts))
    while not sending.done():
        timers.pass_ms(100)
        await asyncio.wait({sending}, timeout=0.005)
    await opened.disconnect()
    await opened.close()
    return sending


async def test_an_answer_is_posted_with_a_signature(callback):
    timers = HandTimers()
    sending = await sent(channel(callback.url, timers), timers, thread_id="t1", delivery_id="turn:0")

    assert sending.result() == "turn:0"
    assert callback.messages == [
        {"channel": "hook", "chatId": "c1", "threadId": "t1", "text": "hello", "deliveryId": "turn:0"}
    ]
    headers = callback.headers[0]
    assert is_signed(SECRET, headers[TIMESTAMP_HEADER], headers[SIGNATURE_HEADER], body=callback.bodies[0])
    assert headers[DELIVERY_HEADER] == "turn:0"


@pytest.mark.parametrize("faults", [[500], [503, 502, 429], ["reset"], [408]])
async def test_an_answer_that_was_not_taken_is_posted_again_under_the_same_name(callback, faults):
    callback.faults = list(faults)
    timers = HandTimers()
    sending = await sent(channel(callback.url, timers), timers, delivery_id="turn:0")

    assert sending.result() == "turn:0"
    assert len(callback.bodies) == len(faults) + 1
    assert {headers[DELIVERY_HEADER] for headers in callback.headers} == {"turn:0"}


@pytest.mark.parametrize("status", [400, 401, 404, 301, 302])
async def test_an_answer_that_is_refused_has_failed_at_once_and_follows_nowhere(callback, status):
    callback.faults = [status]
    timers = HandTimers()
    sending = await sent(channel(callback.url, timers), timers)

    assert isinstance(sending.exception(), DeliveryFailed)
    assert str(status) in str(sending.exception())
    assert len(callback.bodies) == 1


async def test_an_answer_that_is_never_taken_has_failed(callback):
    callback.faults = [500] * 4
    timers = HandTimers()
    sending = await sent(channel(callback.url, timers), timers)

    assert isinstance(sending.exception(), DeliveryFailed)
    assert len(callback.bodies) == 4


async def test_a_callback_that_is_away_has_failed():
    timers = HandTimers()
    sending = await sent(channel("http://127.0.0.1:1/hook", timers), timers)

    assert "gave no answer" in str(sending.exception())


async def test_answers_can_be_sent_from_before_it_is_connected_until_it_is_closed(callback):
    opened = channel(callback.url)
    await opened.send_message("c1", "cut off by the last process")
    await opened.connect()
    await opened.disconnect()
    await opened.send_message("c1", "ended while this one stops")
    await opened.close()

    assert [one["text"] for one in callback.messages] == [
        "cut off by the last process",
        "ended while this one stops",
    ]


@pytest.mark.parametrize("url", [None, "", 3, "ftp://x/y", "http://", "/hook", "localhost"])
def test_a_callback_that_is_no_address_is_refused(url):
    with pytest.raises(ChannelConfigInvalid, match="callbackUrl"):
        channel(url)
