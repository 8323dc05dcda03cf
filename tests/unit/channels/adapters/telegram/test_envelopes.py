"""What a message of Telegram is to the channel."""

import pytest
from telegram import Message, Update, User

from channels.adapters.telegram.envelopes import arrival_of, media_of

BOT = User(4711, "Lane", is_bot=True, username="LaneBot")
ANN = {"id": 7, "is_bot": False, "first_name": "Ann", "last_name": "Lee", "username": "ann"}
PRIVATE = {"id": 7, "type": "private", "first_name": "Ann"}
GROUP = {"id": -100500, "type": "supergroup", "title": "Team"}
FORUM = GROUP | {"is_forum": True}
CHANNEL = {"id": -1009, "type": "channel", "title": "News"}


def message(text=None, *, chat=GROUP, **facts):
    told = {"message_id": 5, "date": 1_700_000_000, "chat": chat, "from": ANN}
    told |= {"text": text} if text is not None else {}
    found = Message.de_json(told | facts, None)
    assert found is not None
    return found


def entity(kind, offset, length, **facts):
    return {"type": kind, "offset": offset, "length": length, **facts}


def envelope(*args, **facts):
    arrival = arrival_of([(1, message(*args, **facts))], channel="team", bot=BOT)
    return arrival.envelope if arrival is not None else None


def test_a_private_message_tells_who_where_and_which():
    found = envelope("hello", chat=PRIVATE)

    assert found.to_wire() == {
        "channelName": "team",
        "senderId": "7",
        "senderName": "Ann Lee",
        "chatId": "7",
        "text": "hello",
        "messageId": "5",
        "isGroup": False,
        "isMentioned": False,
        "isReplyToBot": False,
        "attachments": [],
        "alreadyPrefixed": False,
        "receipts": [],
    }


@pytest.mark.parametrize("kind", ["group", "supergroup"])
def test_groups_are_groups(kind):
    assert envelope("hello", chat=GROUP | {"type": kind}).is_group


@pytest.mark.parametrize(
    ("text", "entities", "remains"),
    [
        ("@LaneBot hello", [entity("mention", 0, 8)], "hello"),
        ("@lanebot hello", [entity("mention", 0, 8)], "hello"),
        ("hello @LaneBot", [entity("mention", 6, 8)], "hello"),
        ("tell @LaneBot this", [entity("mention", 5, 8)], "tell this"),
        ("a\n@LaneBot\nb", [entity("mention", 2, 8)], "a\n\nb"),
        ("@LaneBot @LaneBot x", [entity("mention", 0, 8), entity("mention", 9, 8)], "x"),
        ("😀 @LaneBot 😀 x", [entity("mention", 3, 8)], "😀 😀 x"),
        ("@LaneBot", [entity("mention", 0, 8)], ""),
        ("/status@LaneBot now", [entity("bot_command", 0, 15)], "/status now"),
        ("/STATUS@lanebot", [entity("bot_command", 0, 15)], "/STATUS"),
        ("Lane, hello", [entity("text_mention", 0, 4, user=BOT.to_dict())], ", hello"),
    ],
)
def test_a_mention_is_known_and_cut_out(text, entities, remains):
    found = envelope(text, entities=entities)

    assert found.is_mentioned
    assert found.text == remains


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("@LaneBot2 hello", [entity("mention", 0, 9)]),
        ("mail@LaneBot hello", []),
        ("/status", [entity("bot_command", 0, 7)]),
        ("😀@LaneBotx", [entity("mention", 2, 9)]),
        ("Ann, hello", [entity("text_mention", 0, 3, user=ANN)]),
        ("see @LaneBot", [entity("code", 4, 8)]),
    ],
)
def test_what_only_looks_like_a_mention_is_none_and_stays(text, entities):
    found = envelope(text, entities=entities)

    assert not found.is_mentioned
    assert found.text == text


def test_a_mention_in_a_caption_counts():
    found = envelope(
        caption="@LaneBot look",
        caption_entities=[entity("mention", 0, 8)],
        photo=[{"file_id": "p", "file_unique_id": "p", "width": 1, "height": 1}],
    )

    assert (found.is_mentioned, found.text) == (True, "look")


def test_an_entity_beyond_the_text_does_no_harm():
    assert envelope("hi", entities=[entity("mention", 1, 500)]).text == "hi"


def test_a_command_to_another_bot_is_for_nobody_here():
    assert envelope("/clear@OtherBot", entities=[entity("bot_command", 0, 15)]) is None


def test_a_reply_to_the_bot_is_one_and_quotes_it():
    own = {"message_id": 3, "date": 1, "chat": GROUP, "from": BOT.to_dict(), "text": "Shall I?"}
    found = envelope("yes", reply_to_message=own)

    assert (found.is_reply_to_bot, found.referenced_text) == (True, "Shall I?")


def test_a_reply_to_somebody_else_is_none_to_the_bot():
    other = {"message_id": 3, "date": 1, "chat": GROUP, "from": ANN, "caption": "my dog"}
    found = envelope("nice", reply_to_message=other)

    assert (found.is_reply_to_bot, found.referenced_text) == (False, "my dog")


def test_the_part_that_was_chosen_is_what_is_quoted():
    own = {"message_id": 3, "date": 1, "chat": GROUP, "from": BOT.to_dict(), "text": "One. Two."}
    found = envelope("yes", reply_to_message=own, quote={"text": "Two.", "position": 5})

    assert found.referenced_text == "Two."


def test_what_stands_in_a_topic_is_no_reply_to_the_bot_that_made_it():
    beginning = {
        "message_id": 42,
        "date": 1,
        "chat": FORUM,
        "from": BOT.to_dict(),
        "forum_topic_created": {"name": "News", "icon_color": 1},
    }
    found = envelope(
        "hello", chat=FORUM, message_thread_id=42, is_topic_message=True, reply_to_message=beginning
    )

    assert (found.thread_id, found.is_reply_to_bot, found.referenced_text) == ("42", False, None)


@pytest.mark.parametrize("chat", [GROUP, FORUM], ids=["group", "general topic"])
def test_the_thread_of_replies_outside_of_topics_is_no_topic(chat):
    assert envelope("hello", chat=chat, message_thread_id=42).thread_id is None


def test_an_administrator_who_stays_unnamed_is_the_group():
    made_up = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
    found = envelope("hello", sender_chat=GROUP, author_signature="Boss", **{"from": made_up})

    assert (found.sender_id, found.sender_name) == ("-100500", "Boss")


@pytest.mark.parametrize(
    "facts",
    [
        {"from": BOT.to_dict()},
        {"from": {"id": 99, "is_bot": True, "first_name": "Other"}},
        {"chat": CHANNEL, "sender_chat": CHANNEL},
        {"sender_chat": CHANNEL, "is_automatic_forward": True},
    ],
    ids=["own", "of another bot", "post", "forwarded post"],
)
def test_what_no_person_wrote_is_passed_over(facts):
    assert envelope("hello", **facts) is None


def test_what_telegram_itself_tells_is_passed_over():
    assert envelope(new_chat_title="Other") is None


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"location": {"latitude": 52.5, "longitude": 13.4}}, "[location: 52.5, 13.4]"),
        ({"contact": {"first_name": "Bea", "phone_number": "+49 30 1"}}, "[contact: Bea, +49 30 1]"),
        (
            {
                "sticker": {
                    "file_id": "s",
                    "file_unique_id": "s",
                    "type": "regular",
                    "width": 1,
                    "height": 1,
                    "is_animated": False,
                    "is_video": False,
                    "emoji": "👍",
                }
            },
            "👍",
        ),
    ],
    ids=["location", "contact", "sticker"],
)
def test_what_is_no_text_is_put_into_words(facts, text):
    assert envelope(**facts).text == text


def test_an_update_without_a_message_is_passed_over():
    assert arrival_of([(1, Update(1).message)], channel="team", bot=BOT) is None


def test_a_message_is_known_again_by_its_update_and_by_itself():
    arrival = arrival_of([(77, message("hello"))], channel="team", bot=BOT)
    assert arrival is not None

    assert arrival.keys == ("telegram:4711:update:77", "telegram:4711:message:-100500:5")


FILE = {"file_id": "f", "file_unique_id": "f", "file_size": 9}


@pytest.mark.parametrize(
    ("facts", "told"),
    [
        (
            {"document": FILE | {"file_name": "a.pdf", "mime_type": "application/pdf"}},
            ("file", "application/pdf"),
        ),
        ({"document": FILE}, ("file", "application/octet-stream")),
        ({"audio": FILE | {"duration": 1}}, ("audio", "audio/mpeg")),
        ({"voice": FILE | {"duration": 1}}, ("audio", "audio/ogg")),
        ({"video": FILE | {"duration": 1, "width": 1, "height": 1}}, ("video", "video/mp4")),
        ({"video_note": FILE | {"duration": 1, "length": 1}}, ("video", "video/mp4")),
        (
            {"animation": FILE | {"duration": 1, "width": 1, "height": 1}, "document": FILE},
            ("video", "video/mp4"),
        ),
    ],
    ids=["document", "nameless", "audio", "voice", "video", "note", "animation"],
)
def test_nothing_that_comes_with_a_message_is_dropped(facts, told):
    media = media_of(message(**facts))
    assert media is not None

    assert (media.type, media.mime_type) == told
    assert (media.file_id, media.size) == ("f", 9)
