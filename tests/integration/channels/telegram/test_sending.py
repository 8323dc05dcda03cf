"""Answers on their way to Telegram, over real HTTP."""

import asyncio

import pytest

from channels.delivering import REPEAT_NOTE
from channels.errors import DeliveryFailed
from channels.splitting import utf16_units
from tests.support.channels.fake_telegram import HANG, RESET, refusal
from tests.support.channels.telegram_scene import telegram_scene

LONG = "\n\n".join(
    f"## Part {n}\n\nSome **bold words {n}** and a [link {n}](https://a.example/{n}) with `code_{n}`.\n\n"
    f"```python\nfor x in range({n}):\n    print(x)\n```"
    for n in range(90)
)


def without_blanks(text):
    return "".join(text.split())


async def test_markdown_arrives_as_formatted_text():
    async with telegram_scene(connected=False) as scene:
        message_id = await scene.channel.send_message("7", "**Yes**, 1 < 2")

        assert scene.fake.called("sendMessage")[0]["text"] == "<b>Yes</b>, 1 &lt; 2"
        assert scene.fake.texts == ["Yes, 1 < 2"]
        assert message_id == "1"


async def test_an_answer_is_sent_before_anything_is_connected():
    async with telegram_scene(connected=False) as scene:
        await scene.channel.send_message("7", "what was left over")

        assert [call.method for call in scene.fake.calls] == ["sendMessage"]


async def test_a_long_answer_arrives_whole_in_parts_with_their_formatting():
    assert len(LONG) > 10_000
    async with telegram_scene() as scene:
        scene.fake.write("tell me all")
        await scene.bridge.prompted()
        scene.bridge.answer(LONG)
        await scene.facts.until(lambda: "range(89)" in "".join(scene.fake.texts))

        assert len(scene.fake.sent) > 1
        assert all(utf16_units(text) <= 4096 for text in scene.fake.texts)
        assert all(one.parse_mode == "HTML" for one in scene.fake.sent)
        arrived = without_blanks("".join(scene.fake.texts))
        assert all(
            without_blanks(f"Part {n} Some bold words {n} and a link {n} with code_{n}.") in arrived
            and f"forxinrange({n}):print(x)" in arrived
            for n in range(90)
        )


@pytest.mark.parametrize("text", ["x" * 10_000, "😀" * 5_000, "word " * 2_000])
async def test_ten_thousand_characters_of_anything_arrive_whole(text):
    async with telegram_scene(connected=False) as scene:
        for part in scene.channel.split_message(text):
            await scene.channel.send_message("7", part)

        assert without_blanks("".join(scene.fake.texts)) == without_blanks(text)


async def test_what_telegram_can_t_parse_is_sent_as_it_was_written():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("sendMessage", refusal(400, "Bad Request: can't parse entities: byte offset 12"))
        await scene.channel.send_message("7", "**Yes**")

        assert scene.fake.texts == ["**Yes**"]
        assert scene.fake.sent[0].parse_mode is None


async def test_only_the_part_that_can_t_be_parsed_is_sent_plain():
    async with telegram_scene() as scene:
        scene.fake.write("tell me")
        await scene.bridge.prompted()
        scene.fake.fail("sendMessage", refusal(400, "Bad Request: can't parse entities: byte offset 12"))
        scene.bridge.answer(LONG[:6_000])
        await scene.sent(2)

        assert [one.parse_mode for one in scene.fake.sent[:2]] == [None, "HTML"]


async def test_a_message_that_is_too_long_for_telegram_is_split_again():
    text = "\n\n".join(f"paragraph {n} " + "x" * 50 for n in range(20))
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("sendMessage", refusal(400, "Bad Request: message is too long"))
        await scene.channel.send_message("7", text)

        assert len(scene.fake.sent) > 1
        assert without_blanks("".join(scene.fake.texts)) == without_blanks(text)


async def test_a_message_whose_rendering_is_too_long_is_split_before_it_is_sent():
    table = "| a | b |\n|---|---|\n" + "".join(f"|{'y' * 29 if n == 5 else n}|{n}|\n" for n in range(400))
    assert len(table) < 4096
    async with telegram_scene(connected=False) as scene:
        await scene.channel.send_message("7", table)

        assert len(scene.fake.called("sendMessage")) == len(scene.fake.sent) > 1
        assert all(f"{n}" in "".join(scene.fake.texts) for n in range(400))


async def test_a_throttled_message_waits_as_long_as_it_is_told_and_arrives_once():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("sendMessage", refusal(429, "Too Many Requests", retry_after=23))
        sending = asyncio.create_task(scene.channel.send_message("7", "hello"))
        assert await scene.timers.until_paused() == 23_000

        scene.timers.pass_ms(22_999)
        assert scene.fake.sent == []
        scene.timers.pass_ms(1)
        await sending
        assert scene.fake.texts == ["hello"]


async def test_a_wait_that_nobody_would_sit_out_is_told_instead():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("sendMessage", refusal(429, "Too Many Requests", retry_after=7_200))
        with pytest.raises(DeliveryFailed) as failed:
            await scene.channel.send_message("7", "hello")

        assert failed.value.retry_after_s == 7_200


async def test_a_message_to_a_topic_that_is_gone_goes_to_its_chat():
    async with telegram_scene(connected=False) as scene:
        scene.fake.topics["-100500"] = {"42"}
        await scene.channel.send_message("-100500", "hello", thread_id="43")

        assert [(one.text, one.thread_id) for one in scene.fake.sent] == [("hello", None)]


async def test_the_general_topic_is_not_named():
    async with telegram_scene(connected=False) as scene:
        await scene.channel.send_message("-100500", "hello", thread_id="1")

        assert "message_thread_id" not in scene.fake.called("sendMessage")[0]


async def test_a_message_follows_its_group_to_where_it_moved():
    async with telegram_scene(connected=False) as scene:
        moved = refusal(
            400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=-100777
        )
        scene.fake.fail("sendMessage", moved)
        await scene.channel.send_message("-5", "hello")

        assert scene.fake.sent[0].chat_id == "-100777"


@pytest.mark.parametrize(
    ("fault", "arrives_as"),
    [
        (refusal(500, "Internal Server Error"), "hello"),
        (refusal(502, "Bad Gateway"), "hello"),
        (RESET, f"{REPEAT_NOTE}\n\nhello"),
    ],
)
async def test_a_message_that_telegram_did_not_confirm_is_sent_again(fault, arrives_as):
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("sendMessage", fault)
        sending = asyncio.create_task(scene.channel.send_message("7", "hello"))
        scene.timers.pass_ms(await scene.timers.until_paused())
        await sending

        assert scene.fake.texts == [arrives_as]


async def test_a_message_that_gets_no_answer_is_sent_again_and_says_that_it_may_be_a_repeat():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("sendMessage", HANG)
        sending = asyncio.create_task(scene.channel.send_message("7", "hello"))
        await scene.facts.until(lambda: scene.fake.called("sendMessage"))
        scene.timers.pass_ms(await scene.timers.until_paused(40_000, 40_000))
        scene.timers.pass_ms(await scene.timers.until_paused(at_most_ms=1_000))
        await sending

        assert scene.fake.texts == [f"{REPEAT_NOTE}\n\nhello"]


async def test_a_chat_that_takes_no_messages_is_told_as_that():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("sendMessage", refusal(403, "Forbidden: bot was blocked by the user"))
        with pytest.raises(DeliveryFailed, match="blocked by the user"):
            await scene.channel.send_message("7", "hello")


async def test_a_service_that_stays_away_is_told_in_the_end():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("sendMessage", *[refusal(500, "Internal Server Error")] * 20)
        sending = asyncio.create_task(scene.channel.send_message("7", "hello"))
        for n in range(8):
            scene.timers.pass_ms(await scene.timers.until_paused(1_000 << n, 1_000 << n))
        with pytest.raises(DeliveryFailed):
            await sending

        assert len(scene.fake.called("sendMessage")) == 9
