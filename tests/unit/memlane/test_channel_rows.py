"""What channels keep is read as far as it goes, whichever version wrote it."""

import json
from dataclasses import replace

import pytest

from channels.envelope import Attachment, Envelope, Target
from channels.ledger import TurnRecord
from channels.outbox import OutboundPart
from channels.routes import Route, RouteKey
from events.chat.store import StoredPart, StoredTurn
from memlane.channels.rows import (
    message_text,
    messages_in,
    part_text,
    parts_in,
    routes_in,
    routes_text,
    turn_text,
    turns_in,
)

TARGET = Target(channel_name="chat", sender_id="u1", chat_id="c1", thread_id="t1")
MESSAGE = Envelope(
    channel_name="chat",
    sender_id="u1",
    sender_name="Ann",
    chat_id="c1",
    text="hello",
    attachments=(Attachment(type="file", mime_type="text/plain", file_path="/srv/a.txt"),),
)
TURN = TurnRecord("turn-1", "s1", TARGET, "m1", ("r1",), 3)
PART = OutboundPart("k1", TARGET, "one", "turn-1")
ROUTES: dict[RouteKey, Route] = {("chat", "u1", "c1"): Route("s1", TARGET, "/srv/work")}
BROKEN = ["", "{", "[]", "7", "null", '{"text": "hello"}', '["a", "b", "c"]', "\u2028"]


def of_a_later_version(text):
    """The same with a field more in every object."""

    def grown(value):
        if isinstance(value, dict):
            return {key: grown(one) for key, one in value.items()} | {"addedLater": {"x": 1}}
        return [grown(one) for one in value] if isinstance(value, list) else value

    return json.dumps(grown(json.loads(text)))


@pytest.mark.parametrize("as_read", [str, of_a_later_version])
def test_what_was_kept_comes_back_also_from_a_later_version(as_read):
    (message,) = messages_in([("1-0", as_read(message_text(MESSAGE)))])
    (turn,) = turns_in([StoredTurn(as_read(turn_text(TURN)), "delivering")])
    (part,) = parts_in([StoredPart("k1", as_read(part_text(PART)), "turn-1", "waiting")])

    assert (message.receipt, message.envelope.text, message.envelope.receipts) == ("1-0", "hello", ("1-0",))
    assert message.envelope.attachments == MESSAGE.attachments
    assert (turn.record, turn.is_delivering) == (TURN, True)
    assert part == PART
    assert routes_in(as_read(routes_text(ROUTES))) == ROUTES


def test_half_a_character_of_somebody_s_keeps_nothing_from_being_read():
    target = TARGET.model_copy(update={"chat_id": "c\ud800", "sender_id": "u\ud83d\ude00"})
    read = target.model_copy(update={"chat_id": "c\ufffd", "sender_id": "u\U0001f600"})
    routes: dict[RouteKey, Route] = {("chat", "u\ud800"): Route("s1", target, "/srv/work")}

    (message,) = messages_in([("1-0", message_text(MESSAGE.model_copy(update={"text": "a\ud800 𝄞"})))])
    (turn,) = turns_in([StoredTurn(turn_text(replace(TURN, target=target)), "running")])
    (part,) = parts_in(
        [StoredPart("k1", part_text(replace(PART, target=target, text="\udfff")), "", "waiting")]
    )

    assert message.envelope.text == "a\ufffd 𝄞"
    assert (turn.record.target, part.target, part.text) == (read, read, "\ufffd")
    assert routes_in(routes_text(routes)) == {("chat", "u\ufffd"): Route("s1", read, "/srv/work")}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_can_t_be_read_holds_up_nothing_else_and_is_told(broken, capsys):
    messages = messages_in([("1-0", broken), ("2-0", message_text(MESSAGE))])
    turns = turns_in([StoredTurn(broken, "running"), StoredTurn(turn_text(TURN), "running")])
    parts = parts_in(
        [StoredPart("k0", broken, "", "waiting"), StoredPart("k1", part_text(PART), "", "waiting")]
    )

    assert [one.receipt for one in messages] == ["2-0"]
    assert [one.record for one in turns] == [TURN]
    assert [one.key for one in parts] == ["k1"]
    told = capsys.readouterr()
    assert (told.out + told.err).count("channel_row_unreadable") == 3


@pytest.mark.parametrize("broken", [None, *BROKEN])
def test_routes_that_can_t_be_read_are_none(broken):
    assert routes_in(broken) == {}
