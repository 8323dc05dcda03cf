"""Turns of a Telegram channel: topics, mentions, typing, over real HTTP."""

import pytest

from channels.config import GroupConfig
from tests.support.channels.fake_telegram import RESET, refusal
from tests.support.channels.scene import StubbornPairing
from tests.support.channels.telegram_scene import GROUP, mention, telegram_scene


async def test_a_question_in_a_topic_is_answered_in_it():
    async with telegram_scene() as scene:
        scene.fake.topics["-100500"] = {"42"}
        scene.fake.write(
            chat=GROUP, message_thread_id=42, is_topic_message=True, **mention("@LaneBot what is new?")
        )
        prompt = await scene.bridge.prompted()
        scene.bridge.answer("**Nothing.**")
        sent = await scene.sent()

        assert prompt.text == "[Ann] what is new?"
        assert (sent.chat_id, sent.thread_id, sent.text) == ("-100500", "42", "Nothing.")


async def test_a_question_in_the_general_topic_is_answered_there():
    async with telegram_scene() as scene:
        scene.fake.topics["-100500"] = {"42"}
        scene.fake.write(
            chat=GROUP, message_thread_id=1, is_topic_message=True, **mention("@LaneBot what is new?")
        )
        await scene.bridge.prompted()
        scene.bridge.answer("Nothing.")
        sent = await scene.sent()

        assert (sent.thread_id, sent.text) == (None, "Nothing.")
        assert len(scene.fake.called("sendMessage")) == 1


async def test_two_topics_have_answers_of_their_own():
    async with telegram_scene(session_scope="thread") as scene:
        for thread in (42, 43):
            scene.fake.write(
                chat=GROUP, message_thread_id=thread, is_topic_message=True, **mention(f"@LaneBot {thread}?")
            )
        await scene.bridge.prompted(2)
        for number, prompt in enumerate(scene.bridge.prompts):
            scene.bridge.answer(f"re {prompt.text}", number=number)
        await scene.sent(2)

        assert {(one.thread_id, one.text) for one in scene.fake.sent} == {
            ("42", "re [Ann] 42?"),
            ("43", "re [Ann] 43?"),
        }


async def test_what_a_group_says_among_itself_is_not_answered():
    async with telegram_scene() as scene:
        scene.fake.write("just talking", chat=GROUP)
        scene.fake.write(chat=GROUP, **mention("@LaneBot and you?"))
        prompt = await scene.bridge.prompted()

        assert prompt.text == "[Ann] and you?"
        assert len(scene.bridge.prompts) == 1


async def test_a_reply_to_the_bot_needs_no_mention_and_quotes_what_it_answers():
    async with telegram_scene() as scene:
        own = {
            "message_id": 9,
            "date": 1,
            "chat": GROUP,
            "from": {"id": 4711, "is_bot": True, "first_name": "Lane"},
            "text": "Shall I?",
        }
        scene.fake.write("yes", chat=GROUP, reply_to_message=own)

        assert (await scene.bridge.prompted()).text == '[Replying to: "Shall I?"]\n\n[Ann] yes'


async def test_a_command_with_the_bot_s_name_is_answered_in_a_group():
    async with telegram_scene() as scene:
        text = "/status@lanebot"
        entity = {"type": "bot_command", "offset": 0, "length": len(text)}
        scene.fake.write(text, chat=GROUP, entities=[entity])

        assert "Session: none" in (await scene.sent()).text


async def test_a_command_to_another_bot_is_not_ours_even_where_no_mention_is_needed():
    async with telegram_scene(groups={"*": GroupConfig(require_mention=False)}) as scene:
        text = "/clear@OtherBot"
        entity = {"type": "bot_command", "offset": 0, "length": len(text)}
        scene.fake.write(text, chat=GROUP, entities=[entity])
        scene.fake.write("hello", chat=GROUP)

        assert (await scene.stored()).text == "hello"
        assert scene.fake.sent == []


async def test_typing_is_shown_every_four_seconds_while_a_turn_runs_and_not_after():
    async with telegram_scene() as scene:
        scene.fake.write(chat=GROUP, message_thread_id=42, is_topic_message=True, **mention("@LaneBot think"))
        await scene.bridge.prompted()
        for number in (1, 2, 3):
            await scene.facts.until(lambda n=number: len(scene.fake.called("sendChatAction")) == n)
            scene.timers.pass_ms(await scene.timers.until_paused(4_000, 4_000))
        scene.bridge.answer("Done.")
        await scene.sent()
        await scene.facts.until(lambda: 4_000 not in scene.timers.delays_ms)

        shown = scene.fake.called("sendChatAction")[0]
        assert shown == {"chat_id": "-100500", "action": "typing", "message_thread_id": "42"}


@pytest.mark.parametrize("fault", [RESET, refusal(403, "Forbidden"), refusal(429, "Later", retry_after=60)])
async def test_a_turn_does_not_mind_when_typing_can_t_be_shown(fault):
    async with telegram_scene() as scene:
        scene.fake.fail("sendChatAction", fault)
        scene.fake.write("hello")
        await scene.bridge.prompted()
        scene.bridge.answer("Hi.")

        assert (await scene.sent()).text == "Hi."


async def test_a_stranger_gets_a_pairing_code_and_is_heard_once_approved():
    pairing = StubbornPairing()
    async with telegram_scene(sender_policy="pairing", pairing=pairing) as scene:
        scene.fake.write("hello")
        assert "pairing code" in (await scene.sent()).text
        pairing.approved.add("7")
        scene.fake.write("hello again")

        assert (await scene.bridge.prompted()).text == "hello again"


async def test_an_answer_that_telegram_refuses_is_told_of_in_its_chat():
    async with telegram_scene() as scene:
        scene.fake.write("hello")
        await scene.bridge.prompted()
        scene.fake.fail("sendMessage", refusal(400, "Bad Request: TOPIC_CLOSED"))
        scene.bridge.answer("Hi.")

        assert "TOPIC_CLOSED" in (await scene.sent()).text


async def test_an_answer_is_sent_although_messages_can_t_be_received():
    async with telegram_scene() as scene:
        scene.fake.write("hello")
        await scene.bridge.prompted()
        scene.fake.fail("getUpdates", *[refusal(409, "Conflict")] * 2)
        scene.bridge.answer("Hi.")

        assert (await scene.sent()).text == "Hi."


async def test_a_turn_that_a_restart_cut_off_is_told_in_its_topic():
    async with telegram_scene() as scene:
        scene.fake.write(chat=GROUP, message_thread_id=42, is_topic_message=True, **mention("@LaneBot go"))
        await scene.bridge.prompted()
        await scene.stop()
        scene.channel = scene.open()
        await scene.channel.recover()
        await scene.start()

        sent = await scene.sent()
        assert (sent.thread_id, sent.text) == (
            "42",
            "The service was restarted while it worked on this. Please send it again.",
        )
