"""Events that Slack posts: design page "Channel layer", 5.2."""

import json

import pytest
from pydantic import SecretStr

from channels.adapters.slack.door import SlackDoor
from channels.adapters.slack.signature import SIGNATURE_HEADER, TIMESTAMP_HEADER, sign
from channels.errors import InvalidMessage
from core.clock import wall_ms

SECRET = "signing-s3cret"


def door(*, known=frozenset()):
    """A door, and what was put through it."""
    stored = []

    def put(envelope, keys):
        is_new = not known & set(keys)
        stored.extend([(envelope, keys)] if is_new else [])
        return is_new

    return SlackDoor("team", SecretStr(SECRET), put), stored


def told(*, authorizations=({"user_id": "UBOT", "is_bot": True},), **facts):
    event = {"type": "message", "channel": "C1", "user": "U1", "text": "<@UBOT> hello", "ts": "5.5"} | facts
    return json.dumps({"event_id": "Ev1", "event": event, "authorizations": authorizations}).encode()


def test_what_slack_signed_is_let_in_before_anybody_knows_what_it_is():
    opened, stored = door()
    stamp = str(wall_ms() // 1000)
    headers = {TIMESTAMP_HEADER: stamp, SIGNATURE_HEADER: sign(SECRET, stamp, b"{not json")}

    assert opened.refusal(headers, b"{not json") is None
    assert opened.refusal(headers, b"{not JSON") == "wrong_signature"
    assert stored == []


def test_a_message_is_stored_under_its_keys():
    opened, stored = door()

    assert opened.take(told()).is_new
    ((envelope, keys),) = stored
    assert (envelope.channel_name, envelope.text, envelope.is_mentioned) == ("team", "hello", True)
    assert keys == ("slack:message:C1:5.5", "slack:event:Ev1")


def test_a_repeat_is_known():
    opened, _ = door(known={"slack:event:Ev1"})

    assert not opened.take(told()).is_new


def test_slack_reads_its_challenge_back():
    opened, stored = door()
    taken = opened.take(b'{"type": "url_verification", "token": "t", "challenge": "3eZbrw1a"}')

    assert (taken.challenge, taken.is_new, stored) == ("3eZbrw1a", False, [])


@pytest.mark.parametrize(
    "facts", [{"bot_id": "B1"}, {"user": "UBOT"}, {"subtype": "message_changed"}, {"type": "team_join"}]
)
def test_what_is_no_message_of_a_person_is_passed_over(facts):
    opened, stored = door()

    assert not opened.take(told(**facts)).is_new
    assert stored == []


@pytest.mark.parametrize("authorizations", [None, [], "UBOT", [None], [{"user_id": 7, "is_bot": True}], [{}]])
def test_where_slack_does_not_say_who_the_bot_is_a_mention_is_still_one(authorizations):
    opened, stored = door()
    opened.take(told(type="app_mention", authorizations=authorizations))

    assert [envelope.is_mentioned for envelope, _ in stored] == [True]


def test_where_slack_does_not_say_who_the_bot_is_a_mention_is_stored_whichever_event_comes_first():
    opened, stored = door()
    for kind in ("message", "app_mention"):
        opened.take(told(type=kind, authorizations=[{"user_id": "U1", "is_bot": False}]))

    assert [(envelope.text, envelope.is_mentioned) for envelope, _ in stored] == [("@UBOT hello", True)]


def test_the_agent_is_told_of_files_that_are_not_fetched():
    opened, stored = door()
    opened.take(told(text="read this", subtype="file_share", files=[{"name": "../a.pdf"}, {"name": "b.pdf"}]))

    ((envelope, _),) = stored
    assert envelope.text == (
        "read this\n\n[Left out of this message: “a.pdf” can't be taken here, so it was left out.]\n"
        "[Left out of this message: “1-b.pdf” can't be taken here, so it was left out.]"
    )
    assert envelope.attachments == ()


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"7", b"null", b"\xff", b"[" * 100_000])
def test_what_is_no_object_says_so_and_nothing_is_stored(body):
    opened, stored = door()
    with pytest.raises(InvalidMessage):
        opened.take(body)

    assert stored == []
