"""What an event of Slack is to the channel."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.adapters.slack.events import arrival_of
from channels.files import declined
from channels.intake import with_files

BOT = "UBOT"


def payload(*, event_id="Ev1", **facts):
    event = {"type": "message", "channel": "C1", "user": "U1", "text": "hello", "ts": "5.5"} | facts
    return {"type": "event_callback", "event_id": event_id, "event": event}


def arrival(*, bot=BOT, **facts):
    return arrival_of(payload(**facts), channel="team", bot_id=bot)


def envelope(**facts):
    found = arrival(**facts)
    assert found is not None
    return found.envelope


def test_a_message_in_a_channel_tells_who_where_and_which():
    assert envelope(channel_type="channel").to_wire() == {
        "channelName": "team",
        "senderId": "U1",
        "senderName": "U1",
        "chatId": "C1",
        "text": "hello",
        "threadId": "5.5",
        "messageId": "5.5",
        "isGroup": True,
        "isMentioned": False,
        "isReplyToBot": False,
        "attachments": [],
        "alreadyPrefixed": False,
        "receipts": [],
    }


@pytest.mark.parametrize(
    ("facts", "is_group"),
    [
        ({"channel": "D1", "channel_type": "im"}, False),
        ({"channel": "D1", "type": "app_mention"}, False),
        ({"channel": "E1", "channel_type": "im"}, False),
        ({"channel": "G1", "channel_type": "mpim"}, True),
        ({"channel": "G1", "channel_type": "group"}, True),
        ({"channel": "C1", "channel_type": "channel"}, True),
        ({"channel": "C1", "type": "app_mention"}, True),
    ],
)
def test_all_but_direct_messages_are_groups(facts, is_group):
    assert envelope(**facts).is_group is is_group


@pytest.mark.parametrize(
    ("facts", "thread"),
    [
        ({}, "5.5"),
        ({"thread_ts": "1.0"}, "1.0"),
        ({"thread_ts": ""}, "5.5"),
        ({"channel": "D1", "channel_type": "im"}, None),
        ({"channel": "D1", "channel_type": "im", "thread_ts": "1.0"}, "1.0"),
    ],
)
def test_a_thread_is_the_one_that_a_message_is_in_or_begins(facts, thread):
    assert envelope(**facts).thread_id == thread


@pytest.mark.parametrize(
    ("text", "remains"),
    [
        ("<@UBOT> hello", "hello"),
        ("<@UBOT|lane>, hello", "hello"),
        ("<@UBOT>: hello", "hello"),
        ("hello <@UBOT>", "hello"),
        ("<@UBOT>", ""),
        ("<@UBOT> /status", "/status"),
    ],
)
def test_a_mention_of_the_bot_is_told_and_left_out(text, remains):
    found = envelope(text=text)

    assert (found.is_mentioned, found.text) == (True, remains)


@pytest.mark.parametrize("text", ["UBOT hello", "@UBOT hello", "&lt;@UBOT&gt; hello", "<@UBOTH> hello"])
def test_what_only_looks_like_a_mention_is_none(text):
    assert not envelope(text=text).is_mentioned


def test_where_the_bot_is_not_known_only_slack_says_who_is_mentioned():
    found = envelope(bot="", text="hello <#C2>", parent_user_id="")

    assert (found.is_mentioned, found.is_reply_to_bot) == (False, False)
    assert envelope(bot="", type="app_mention", text="<@UBOT> hello").text == "@UBOT hello"


def test_where_the_bot_is_not_known_a_mention_is_not_lost_behind_the_message_that_it_comes_with():
    assert arrival(bot="", text="<@UBOT> hello") is None
    assert envelope(bot="", text="<@UBOT> hello", channel="D1", channel_type="im").text == "@UBOT hello"


@pytest.mark.parametrize(("author", "is_reply"), [(BOT, True), ("U2", False), (None, False)])
def test_what_is_said_in_a_thread_that_the_bot_began_answers_it(author, is_reply):
    assert envelope(thread_ts="1.0", parent_user_id=author).is_reply_to_bot is is_reply


def test_a_message_is_known_by_its_event_and_by_where_and_when_it_was_written():
    found = arrival()

    assert found is not None
    assert found.keys == ("slack:message:C1:5.5", "slack:event:Ev1")


@pytest.mark.parametrize(
    "facts",
    [
        {"bot_id": "B1"},
        {"user": BOT},
        {"type": "app_mention", "text": "<@UBOT> hello", "edited": {"user": "U1", "ts": "6.0"}},
        {"subtype": "message_changed"},
        {"subtype": "message_deleted"},
        {"subtype": "channel_join"},
        {"subtype": "bot_message"},
        {"type": "reaction_added"},
        {"type": None},
        {"user": None},
        {"user": ""},
        {"user": "Ü1"},
        {"channel": None},
        {"channel": 7},
        {"ts": None},
        {"text": None},
        {"text": " "},
    ],
)
def test_what_no_person_wrote_is_no_message(facts):
    assert arrival(**facts) is None


@pytest.mark.parametrize("subtype", [None, "file_share", "thread_broadcast", "me_message"])
def test_what_a_person_wrote_is_one_whatever_slack_calls_it(subtype):
    assert envelope(subtype=subtype).text == "hello"


def test_files_are_told_as_what_they_are():
    files = [
        {
            "name": "a.png",
            "mimetype": "image/png",
            "size": 3,
            "url_private_download": "https://a.slack.com/a",
        },
        {"name": None, "mimetype": None, "size": "3", "url_private": "https://a.slack.com/b"},
        {"id": "F3", "file_access": "check_file_info"},
        "not a file",
    ]
    found = arrival(files=files, text="")

    assert found is not None
    assert [(one.type, one.file_id, one.file_name, one.size) for one in found.media] == [
        ("image", "https://a.slack.com/a", "a.png", 3),
        ("file", "https://a.slack.com/b", None, None),
        ("file", "", None, None),
    ]


TEXT = st.text(st.characters(exclude_categories=()), max_size=8)  # lone surrogates are JSON, too
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
KEYS = ("type", "subtype", "channel", "channel_type", "user", "text", "ts", "thread_ts", "bot_id", "files")


def written(envelope):
    return json.dumps(envelope.to_wire(), ensure_ascii=False).encode()


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, JSON)), st.booleans())
def test_no_event_of_whatever_shape_does_harm(event, is_whole):
    whole = {"type": "message", "channel": "C1", "user": "U1", "text": "hello", "ts": "5.5"}

    found = arrival_of({"event": whole | event if is_whole else event}, channel="team", bot_id=BOT)

    assert found is None or written(with_files(found.envelope, declined(found.media)))


@given(JSON)
def test_no_payload_of_whatever_shape_is_a_message(event):
    assert arrival_of({"event": event, "event_id": event}, channel="team", bot_id=BOT) is None
