"""How answers arrive in Slack, over real HTTP."""

import asyncio

import pytest

from channels.adapters.slack.sending import MAX_UNITS
from channels.delivering import REPEAT_NOTE
from channels.drafts import MAX_WAITS
from channels.errors import DeliveryFailed
from channels.splitting import utf16_units
from tests.support.channels.fake_slack import HANG, RESET, Refused
from tests.support.channels.slack_scene import slack_scene

LONG = "\n\n".join(
    f"**Step {n}:** run `make step-{n}` & wait.\n\n- first\n- second\n\n```sh\nmake step-{n}\n```"
    for n in range(140)
)


def sending(scene, text="Hi.", **place):
    return scene.channel.send_message("C1", text, **place)


async def waited(scene, coroutine, *delays_ms):
    """Let a message be sent while time passes in these steps."""
    task = asyncio.create_task(coroutine)
    for delay_ms in delays_ms:
        scene.timers.pass_ms(await scene.timers.until_paused(delay_ms, delay_ms))
    return await task


async def test_a_message_is_posted_as_mrkdwn_into_its_thread_and_its_id_returned():
    async with slack_scene() as scene:
        assert await sending(scene, "**Done** & _dusted_ <b>", thread_id="1.0") == "91.0"

        (call,) = scene.fake.called("chat.postMessage")
        assert (call["text"], call["thread_ts"]) == ("*Done* &amp; _dusted_ &lt;b&gt;", "1.0")
        assert (call["unfurl_links"], call["unfurl_media"]) == (False, False)


async def test_nobody_is_notified_by_what_an_agent_writes():
    async with slack_scene() as scene:
        await sending(scene, "<!channel> <!here> <@U1> @everyone")

        (call,) = scene.fake.called("chat.postMessage")
        assert "<" not in call["text"]
        assert not {"link_names", "parse"} & call.keys()


async def test_a_long_answer_arrives_whole_in_parts_that_slack_does_not_cut():
    assert len(LONG) > 10_000
    async with slack_scene() as scene:
        await scene.fake.write("how do I release?")
        await scene.bridge.prompted()
        scene.bridge.answer(LONG)
        await scene.facts.until(lambda: "step-139" in "".join(scene.fake.texts[-1:]))

        assert all(utf16_units(text) <= MAX_UNITS for text in scene.fake.texts)
        arrived = "".join("".join(scene.fake.texts).split())
        assert all(f"Step{n}:*run`makestep-{n}`&amp;wait.•first•second" in arrived for n in range(140))


async def test_what_grows_by_its_markup_is_cut_before_slack_cuts_it():
    async with slack_scene() as scene:
        await sending(scene, "& " * 1_900)

        assert len(scene.fake.posts) > 1
        assert "".join(scene.fake.texts).count("&amp;") == 1_900
        assert all(utf16_units(text) <= MAX_UNITS for text in scene.fake.texts)


async def test_what_slack_calls_too_long_is_cut_in_two():
    async with slack_scene() as scene:
        scene.fake.fail("chat.postMessage", Refused("msg_too_long"))
        await sending(scene, "one two three " * 20)

        assert len(scene.fake.posts) == 2
        assert "".join(scene.fake.texts).count("three") == 20


async def test_what_is_too_long_and_can_t_be_cut_fails():
    async with slack_scene() as scene:
        scene.fake.fail("chat.postMessage", Refused("msg_too_long"))
        with pytest.raises(DeliveryFailed, match="msg_too_long"):
            await sending(scene)


@pytest.mark.parametrize("error", ["ratelimited", "rate_limited"])
async def test_as_long_as_slack_asks_for_is_waited(error):
    async with slack_scene() as scene:
        scene.fake.fail("chat.postMessage", Refused(error, 429, retry_after="7"))
        await waited(scene, sending(scene), 7_000)

        assert scene.fake.texts == ["Hi."]


@pytest.mark.parametrize("retry_after", [None, "soon", "-1", "1" * 30])
async def test_where_slack_does_not_say_how_long_pauses_grow(retry_after):
    async with slack_scene() as scene:
        scene.fake.fail("chat.postMessage", *[Refused(None, 429, retry_after=retry_after)] * 2)
        await waited(scene, sending(scene), 1_000, 2_000)

        assert scene.fake.texts == ["Hi."]


async def test_a_wait_that_is_too_long_is_told_to_who_sends():
    async with slack_scene() as scene:
        scene.fake.fail("chat.postMessage", Refused("ratelimited", 429, retry_after="301"))
        with pytest.raises(DeliveryFailed) as failed:
            await sending(scene)

        assert failed.value.retry_after_s == 301


@pytest.mark.parametrize("fault", [RESET, "{", "[]", Refused(None, 502), Refused("internal_error")])
async def test_what_may_have_arrived_is_sent_again_and_says_so(fault):
    async with slack_scene() as scene:
        scene.fake.fail("chat.postMessage", fault, fault)
        await waited(scene, sending(scene), 1_000, 2_000)

        assert scene.fake.texts == [f"{REPEAT_NOTE}\n\nHi."]


async def test_a_message_that_hangs_is_sent_again_and_says_so():
    async with slack_scene() as scene:
        scene.fake.fail("chat.postMessage", HANG)
        task = asyncio.create_task(sending(scene))
        await scene.facts.until(lambda: scene.fake.called("chat.postMessage"))
        for delay_ms in (30_000, 1_000):
            scene.timers.pass_ms(await scene.timers.until_paused(delay_ms, delay_ms))
        await task

        assert scene.fake.texts == [f"{REPEAT_NOTE}\n\nHi."]


@pytest.mark.parametrize("error", ["service_unavailable", "org_login_required", "external_channel_migrating"])
async def test_what_surely_was_not_taken_is_just_sent_again(error):
    async with slack_scene(connected=False) as scene:
        scene.fake.fail("chat.postMessage", Refused(error))
        await waited(scene, sending(scene), 1_000)

        assert scene.fake.texts == ["Hi."]


async def test_who_is_not_there_is_not_called_for_ever():
    async with slack_scene(connected=False, extra={"apiUrl": "http://127.0.0.1:1/api"}) as scene:
        with pytest.raises(DeliveryFailed, match="no answer"):
            await waited(scene, sending(scene), *[1_000 << waits for waits in range(MAX_WAITS)])


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        ("not_in_channel", "has to be invited"),
        ("channel_not_found", "invite the bot"),
        ("is_archived", "archived"),
        ("invalid_auth", "invalid_auth"),
        ("restricted_action", "restricted_action"),
    ],
)
async def test_what_waiting_does_not_help_fails_at_once_and_says_what_would(error, remedy):
    async with slack_scene() as scene:
        scene.fake.fail("chat.postMessage", Refused(error))
        with pytest.raises(DeliveryFailed, match=remedy):
            await sending(scene)

        assert scene.fake.posts == []


async def test_a_scope_that_is_missing_is_named():
    async with slack_scene() as scene:
        scene.fake.fail("chat.postMessage", Refused("missing_scope", facts={"needed": "chat:write"}))
        with pytest.raises(DeliveryFailed, match="missing_scope: chat:write"):
            await sending(scene)


@pytest.mark.parametrize(
    "error",
    [
        *("thread_not_found", "message_not_found", "cannot_reply_to_message"),
        "restricted_action_non_threadable_channel",
    ],
)
async def test_an_answer_to_a_thread_that_is_gone_is_sent_outside_of_it(error):
    async with slack_scene() as scene:
        scene.fake.fail("chat.postMessage", Refused(error))
        await sending(scene, thread_id="1.0")

        assert [(one.text, one.thread_id) for one in scene.fake.posts] == [("Hi.", None)]


async def test_what_shows_nothing_is_sent_as_it_was_written():
    async with slack_scene() as scene:
        await sending(scene, "[reference]: https://example.com")

        assert scene.fake.texts == ["[reference]: https://example.com"]
