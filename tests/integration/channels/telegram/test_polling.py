"""Receiving from Telegram, whatever goes wrong with it, over real HTTP."""

import pytest

from channels.errors import ChannelCredentialsRefused
from tests.support.channels.fake_telegram import BOT, HANG, RESET, refusal
from tests.support.channels.telegram_scene import telegram_scene

CONFLICT = refusal(409, "Conflict: terminated by other getUpdates request")


async def test_telegram_is_told_of_a_message_only_after_it_was_stored():
    async with telegram_scene() as scene:
        scene.inbox.failures = 1
        update_id = scene.fake.write("hello")
        await scene.timers.until_paused(at_most_ms=1_000)
        assert scene.inbox.stored == []

        scene.timers.pass_ms(1_000)
        await scene.stored()
        await scene.polls(3)

        offsets = [poll.get("offset") for poll in scene.fake.called("getUpdates")]
        assert offsets == [None, None, str(update_id + 1)]


async def test_a_message_that_was_stored_without_an_answer_is_stored_once():
    async with telegram_scene() as scene:
        scene.inbox.failures, scene.inbox.fails_after_storing = 1, True
        scene.fake.write("hello")
        await scene.timers.until_paused(at_most_ms=1_000)
        scene.timers.pass_ms(1_000)
        await scene.polls(3)

        assert [one.text for one in scene.inbox.stored] == ["hello"]


async def test_only_what_was_stored_is_not_sent_again():
    async with telegram_scene(connected=False) as scene:
        first = scene.fake.write("one")
        scene.fake.write("two")
        put, count = scene.inbox.put, 0

        async def fail_second(envelope, *, keys):
            nonlocal count
            count += 1
            scene.inbox.failures = 1 if count == 2 else 0
            return await put(envelope, keys=keys)

        scene.inbox.put = fail_second
        await scene.start()
        await scene.timers.until_paused(at_most_ms=1_000)
        scene.timers.pass_ms(1_000)
        await scene.stored(2)

        assert scene.fake.called("getUpdates")[1]["offset"] == str(first + 1)
        assert [one.text for one in scene.inbox.stored] == ["one", "two"]


async def test_a_restart_before_telegram_was_told_stores_nothing_twice():
    async with telegram_scene() as scene:
        scene.inbox.failures, scene.inbox.fails_after_storing = 1, True
        scene.fake.write("hello")
        await scene.timers.until_paused(at_most_ms=1_000)
        await scene.restart()
        scene.fake.write("again")
        await scene.stored(2)

        assert [one.text for one in scene.inbox.stored] == ["hello", "again"]


async def test_a_restart_in_the_middle_of_a_poll_loses_nothing_and_has_one_poll():
    async with telegram_scene() as scene:
        await scene.facts.until(lambda: scene.fake.open_polls)
        await scene.stop()
        scene.fake.write("meanwhile")
        await scene.facts.until(lambda: not scene.fake.open_polls)
        scene.channel = scene.open()
        await scene.start()

        assert (await scene.stored()).text == "meanwhile"
        assert scene.fake.most_polls_at_once == 1


async def test_after_conflicts_polling_waits_longer_each_time_up_to_what_a_poll_takes():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("getUpdates", *[CONFLICT] * 4)
        await scene.start()
        pauses = []
        for n in range(4):
            await scene.polls(n + 1)
            pauses.append(await scene.timers.until_paused(at_least_ms=5_000, at_most_ms=29_000))
            scene.timers.pass_ms(pauses[-1])

        scene.fake.write("still there?")
        assert (await scene.stored()).text == "still there?"
        assert pauses == [5_000, 10_000, 20_000, 21_000]


async def test_a_channel_is_unhealthy_while_it_is_deaf_and_says_why():
    async with telegram_scene(connected=False) as scene:
        assert scene.channel.health.state == "starting"
        scene.fake.fail("getUpdates", CONFLICT, CONFLICT)
        await scene.start()
        deaf = await scene.healthy("unhealthy")
        assert deaf.reason is not None
        assert "409 Conflict" in deaf.reason

        scene.timers.pass_ms(await scene.timers.until_paused(5_000, 5_000))
        scene.timers.pass_ms(await scene.timers.until_paused(10_000, 10_000))
        await scene.facts.until(lambda: scene.fake.open_polls)
        assert scene.channel.health == deaf  # a poll that is only open proves nothing

        scene.fake.end_poll()
        assert (await scene.healthy("connected")).reason is None


async def test_failures_are_counted_anew_once_a_poll_returned():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("getUpdates", CONFLICT, CONFLICT)
        await scene.start()
        scene.timers.pass_ms(await scene.timers.until_paused(5_000, 5_000))
        scene.timers.pass_ms(await scene.timers.until_paused(10_000, 10_000))
        scene.fake.end_poll()
        await scene.healthy("connected")
        scene.fake.fail("getUpdates", CONFLICT)
        scene.fake.end_poll()

        assert await scene.timers.until_paused(5_000, 20_000) == 5_000


async def test_two_channels_of_one_bot_do_not_deafen_each_other_for_good():
    async with telegram_scene() as scene:
        await scene.facts.until(lambda: scene.fake.open_polls)
        other = scene.open()
        await other.connect()
        await scene.facts.until(lambda: other.health.state == "unhealthy")
        await scene.channel.disconnect()
        await scene.facts.until(lambda: not scene.fake.open_polls)
        scene.timers.pass_ms(await scene.timers.until_paused(5_000, 5_000))
        scene.fake.write("who hears me?")

        assert (await scene.stored()).text == "who hears me?"
        await other.disconnect()
        await other.close()


async def test_a_throttled_poll_waits_as_long_as_it_is_told():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("getUpdates", refusal(429, "Too Many Requests: retry after 17", retry_after=17))
        await scene.start()

        assert await scene.timers.until_paused(5_000, 29_000) == 17_000


@pytest.mark.parametrize("fault", [RESET, refusal(500, "Internal Server Error"), refusal(502, "Bad Gateway")])
async def test_a_poll_that_breaks_is_followed_by_another(fault):
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("getUpdates", fault, fault)
        await scene.start()
        for _ in range(2):
            scene.timers.pass_ms(await scene.timers.until_paused(500, 2_000))
        scene.fake.write("hello")

        assert (await scene.stored()).text == "hello"


async def test_a_poll_that_never_returns_is_given_up_and_followed_by_another():
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("getUpdates", HANG)
        await scene.start()
        await scene.polls(1)
        scene.timers.pass_ms(await scene.timers.until_paused(30_000, 30_000))
        assert (await scene.healthy("unhealthy")).reason == "no answer"

        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))
        scene.fake.write("hello")
        assert (await scene.stored()).text == "hello"


async def test_an_answer_that_is_none_of_telegram_s_is_survived():
    async with telegram_scene(connected=False) as scene:
        scene.fake.replace("getUpdates", b"<html>captive portal</html>")
        await scene.start()
        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))
        scene.fake.write("hello")

        assert (await scene.stored()).text == "hello"


async def test_a_token_that_is_revoked_ends_the_channel_with_its_reason():
    async with telegram_scene() as scene:
        scene.fake.is_token_known = False
        scene.fake.end_poll()
        with pytest.raises(ChannelCredentialsRefused, match="401 Unauthorized"):
            await scene.channel.watch()

        assert scene.channel.health.state == "stopped"


async def test_an_update_that_can_t_be_read_does_not_hold_up_the_others():
    async with telegram_scene(connected=False) as scene:
        scene.fake.tell({"message": {"message_id": 1, "from": {"odd": True}}})
        scene.fake.tell({"message": "what?"})
        last = scene.fake.write("hello")
        await scene.start()

        assert (await scene.stored()).text == "hello"
        await scene.polls(2)
        assert scene.fake.called("getUpdates")[1]["offset"] == str(last + 1)


async def test_edits_posts_of_channels_and_what_bots_write_are_passed_over():
    async with telegram_scene(connected=False) as scene:
        message = {"message_id": 3, "date": 1, "text": "x", "chat": {"id": 7, "type": "private"}}
        channel = {"id": -1009, "type": "channel", "title": "News"}
        scene.fake.tell({"edited_message": message | {"from": {"id": 7, "is_bot": False, "first_name": "A"}}})
        scene.fake.tell({"channel_post": message | {"chat": channel}})
        scene.fake.write("forwarded by itself", sender_chat=channel, is_automatic_forward=True)
        scene.fake.write("my own", **{"from": BOT})
        scene.fake.write("hello")
        await scene.start()

        await scene.stored()
        await scene.polls(2)
        assert [one.text for one in scene.inbox.stored] == ["hello"]


async def test_the_same_message_in_another_update_is_a_repeat():
    async with telegram_scene() as scene:
        scene.fake.write("hello", message_id=5)
        scene.fake.write("hello", message_id=5)
        scene.fake.write("other", message_id=6)

        await scene.stored(2)
        assert [one.text for one in scene.inbox.stored] == ["hello", "other"]
