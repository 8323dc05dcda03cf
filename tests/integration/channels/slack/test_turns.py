"""Turns of a Slack channel: threads, mentions, repeats, over real HTTP and WebSocket."""

import pytest

from channels.config import GroupConfig
from tests.support.channels.fake_slack import BOT, Refused
from tests.support.channels.scene import StubbornPairing
from tests.support.channels.slack_scene import CHANNEL, slack_scene


async def test_a_question_in_a_direct_message_is_answered_there():
    async with slack_scene() as scene:
        await scene.fake.write("what is new?")
        prompt = await scene.bridge.prompted()
        scene.bridge.answer("**Nothing.**")
        sent = await scene.sent()

        assert prompt.text == "what is new?"
        assert (sent.chat_id, sent.thread_id, sent.text) == ("D1", None, "*Nothing.*")


async def test_a_mention_in_a_channel_is_answered_in_the_thread_that_it_begins():
    async with slack_scene() as scene:
        await scene.fake.write("<@UBOT> what is new?", ts="5.5", **CHANNEL)
        prompt = await scene.bridge.prompted()
        scene.bridge.answer("Nothing.")
        sent = await scene.sent()

        assert prompt.text == "[U1] what is new?"
        assert (sent.chat_id, sent.thread_id) == ("C1", "5.5")


async def test_two_threads_have_sessions_and_answers_of_their_own():
    async with slack_scene() as scene:
        for thread in ("1.0", "2.0"):
            await scene.fake.write(f"<@UBOT> {thread}?", thread_ts=thread, **CHANNEL)
        await scene.bridge.prompted(2)
        for number in (1, 0):
            scene.bridge.answer(f"re {scene.bridge.prompts[number].text}", number=number)
        await scene.sent(2)

        assert len({prompt.session_id for prompt in scene.bridge.prompts}) == 2
        assert {(one.thread_id, one.text) for one in scene.fake.posts} == {
            ("1.0", "re [U1] 1.0?"),
            ("2.0", "re [U1] 2.0?"),
        }


async def test_a_thread_keeps_its_session():
    async with slack_scene() as scene:
        await scene.fake.write("<@UBOT> hello", ts="5.5", **CHANNEL)
        await scene.bridge.prompted()
        scene.bridge.answer("Hi.")
        await scene.sent()
        await scene.fake.write("<@UBOT> and now?", thread_ts="5.5", **CHANNEL)
        await scene.bridge.prompted(2)

        assert len({prompt.session_id for prompt in scene.bridge.prompts}) == 1


async def test_what_a_channel_says_among_itself_is_not_answered():
    async with slack_scene() as scene:
        await scene.fake.write("just talking", **CHANNEL)
        await scene.fake.write("<@UBOT> and you?", **CHANNEL)

        assert (await scene.bridge.prompted()).text == "[U1] and you?"
        assert len(scene.bridge.prompts) == 1


async def test_a_reply_to_what_the_bot_began_needs_no_mention():
    async with slack_scene() as scene:
        await scene.fake.write("yes", thread_ts="1.0", parent_user_id=BOT, **CHANNEL)

        assert (await scene.bridge.prompted()).text == "[U1] yes"


@pytest.mark.parametrize("second", ["Ev9", "Ev10"])
async def test_a_message_that_slack_sends_again_is_answered_once(second):
    async with slack_scene() as scene:
        await scene.fake.write("hello", ts="5.5", event_id="Ev9")
        again = await scene.fake.write("hello", ts="5.5", event_id=second)
        await scene.acknowledged(again)

        assert [one.text for one in scene.inbox.stored] == ["hello"]


async def test_an_event_that_is_sent_again_with_another_time_is_known_by_its_id():
    async with slack_scene() as scene:
        await scene.fake.write("hello", ts="5.5", event_id="Ev9")
        await scene.acknowledged(await scene.fake.write("hello", ts="5.6", event_id="Ev9"))

        assert len(scene.inbox.stored) == 1


@pytest.mark.parametrize("kinds", [("message", "app_mention"), ("app_mention", "message")])
async def test_a_mention_that_comes_as_two_events_is_one_message(kinds):
    async with slack_scene() as scene:
        for kind in kinds:
            told = {"type": kind, "channel": "C1", "user": "U1", "text": "<@UBOT> hello", "ts": "5.5"}
            envelope_id = await scene.fake.tell(told)
        await scene.acknowledged(envelope_id)

        assert [(one.text, one.is_group, one.is_mentioned) for one in scene.inbox.stored] == [
            ("hello", True, True)
        ]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message", "subtype": "message_changed", "channel": "C1", "message": {"text": "a"}},
        {"type": "message", "subtype": "message_deleted", "channel": "C1", "ts": "1.0"},
        {"type": "message", "channel": "C1", "user": BOT, "text": "<@UBOT> own", "ts": "1.0"},
        {"type": "message", "channel": "C1", "user": "U2", "bot_id": "B2", "text": "<@UBOT>", "ts": "1.0"},
        {"type": "message", "subtype": "bot_message", "channel": "C1", "text": "<@UBOT>", "ts": "1.0"},
        {"type": "reaction_added", "user": "U1"},
    ],
)
async def test_what_is_no_message_of_a_person_is_acknowledged_and_passed_over(event):
    async with slack_scene() as scene:
        await scene.acknowledged(await scene.fake.tell(event))

        assert scene.inbox.stored == []


async def test_a_message_is_acknowledged_once_it_is_stored_and_no_earlier():
    async with slack_scene() as scene:
        scene.inbox.failures = 1
        envelope_id = await scene.fake.write("hello")
        pause_ms = await scene.timers.until_paused(500, 1_000)
        assert (scene.fake.acknowledged, scene.channel.health.state) == ([], "unhealthy")
        scene.timers.pass_ms(pause_ms)
        await scene.acknowledged(envelope_id)

        assert [one.text for one in scene.inbox.stored] == ["hello"]
        assert scene.channel.health.state == "connected"


async def test_a_message_of_which_nobody_knows_whether_it_was_stored_is_answered_once():
    async with slack_scene() as scene:
        scene.inbox.failures, scene.inbox.fails_after_storing = 1, True
        envelope_id = await scene.fake.write("hello")
        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))
        await scene.acknowledged(envelope_id)

        assert len(scene.inbox.stored) == 1


async def test_messages_are_taken_in_their_order_although_one_has_to_wait():
    async with slack_scene() as scene:
        scene.inbox.failures = 1
        await scene.fake.write("first")
        await scene.fake.write("second")
        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))
        await scene.stored(2)

        assert [one.text for one in scene.inbox.stored] == ["first", "second"]


async def test_a_command_follows_a_mention():
    async with slack_scene() as scene:
        await scene.fake.write("<@UBOT> /status", **CHANNEL)

        assert "Session: none" in (await scene.sent()).text


async def test_a_stranger_gets_a_pairing_code_and_is_heard_once_approved():
    pairing = StubbornPairing()
    async with slack_scene(sender_policy="pairing", pairing=pairing) as scene:
        await scene.fake.write("hello")
        assert "pairing code" in (await scene.sent()).text
        pairing.approved.add("U1")
        await scene.fake.write("hello again")

        assert (await scene.bridge.prompted()).text == "hello again"


async def test_a_channel_that_is_not_listed_is_not_heard():
    async with slack_scene(group_policy="allowlist", groups={"C2": GroupConfig()}) as scene:
        await scene.fake.write("<@UBOT> hello", **CHANNEL)
        await scene.fake.write("hello")

        assert (await scene.bridge.prompted()).text == "hello"


async def test_an_answer_that_slack_refuses_is_told_of_in_its_chat():
    async with slack_scene() as scene:
        await scene.fake.write("hello")
        await scene.bridge.prompted()
        scene.fake.fail("chat.postMessage", Refused("restricted_action"))
        scene.bridge.answer("Hi.")

        assert "restricted_action" in (await scene.sent()).text


async def test_an_answer_is_sent_although_there_is_no_connection_for_events():
    async with slack_scene() as scene:
        await scene.fake.write("hello")
        await scene.bridge.prompted()
        scene.fake.fail("apps.connections.open", Refused("internal_error"))
        await scene.fake.drop()
        scene.bridge.answer("Hi.")

        assert (await scene.sent()).text == "Hi."


async def test_a_turn_that_a_restart_cut_off_is_told_in_its_thread():
    async with slack_scene() as scene:
        await scene.fake.write("<@UBOT> go", ts="5.5", **CHANNEL)
        await scene.bridge.prompted()
        await scene.stop()
        scene.channel = scene.open()
        await scene.channel.recover()
        await scene.start()

        sent = await scene.sent()
        assert (sent.thread_id, sent.text) == (
            "5.5",
            "The service was restarted while it worked on this. Please send it again.",
        )
