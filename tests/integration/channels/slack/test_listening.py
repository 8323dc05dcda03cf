"""Connections of Socket Mode, which come and go, over a real WebSocket."""

import pytest

from channels.adapters.slack import api
from channels.adapters.slack.listening import STEADY_MS
from channels.errors import ChannelCredentialsRefused
from tests.support.channels.fake_slack import HANG, HELLO, RESET, Refused
from tests.support.channels.slack_scene import slack_scene


async def test_connections_that_slack_takes_back_at_once_are_not_opened_without_a_pause():
    async with slack_scene() as scene:
        renew = {"type": "disconnect", "reason": "refresh_requested"}
        await scene.fake.send(renew)
        await scene.connected(2)
        for number, least_ms in ((3, 500), (4, 1_000)):
            await scene.fake.send(renew)
            scene.timers.pass_ms(await scene.timers.until_paused(least_ms, 2 * least_ms))
            await scene.connected(number)


async def test_connections_that_break_at_once_are_opened_ever_more_slowly_until_one_lasts():
    async with slack_scene() as scene:
        for number, least_ms in ((2, 500), (3, 1_000), (4, 2_000)):
            await scene.fake.drop()
            scene.timers.pass_ms(await scene.timers.until_paused(least_ms, 2 * least_ms))
            await scene.connected(number)
        await scene.fake.answered_ping()
        scene.timers.pass_ms(STEADY_MS)
        await scene.fake.drop()

        assert await scene.timers.until_paused(500, 1_000)


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_a_connection_that_slack_wants_replaced_is_replaced_at_once(reason):
    async with slack_scene() as scene:
        await scene.fake.send({"type": "disconnect", "reason": reason})
        await scene.connected(2)
        await scene.fake.write("hello")

        assert (await scene.stored()).text == "hello"
        assert len(scene.fake.sockets) == 1


async def test_a_connection_that_breaks_is_replaced_after_a_pause():
    async with slack_scene() as scene:
        await scene.fake.drop()
        pause_ms = await scene.timers.until_paused(500, 1_000)
        assert scene.channel.health.state == "unhealthy"
        scene.timers.pass_ms(pause_ms)
        await scene.connected(2)
        await scene.acknowledged(await scene.fake.write("hello"))

        assert scene.channel.health.state == "connected"


async def test_what_was_not_acknowledged_comes_again_and_is_taken_once():
    async with slack_scene() as scene:
        scene.inbox.failures, scene.inbox.fails_after_storing = 1, True
        envelope_id = await scene.fake.write("hello")
        pause_ms = await scene.timers.until_paused(500, 1_000)
        await scene.fake.drop()
        scene.timers.pass_ms(pause_ms)
        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))
        await scene.acknowledged(envelope_id)

        assert scene.fake.connections == 2
        assert [one.text for one in scene.inbox.stored] == ["hello"]


async def test_what_is_written_while_nothing_can_be_stored_waits_here_as_slack_forgets_it():
    async with slack_scene() as scene:
        scene.inbox.failures = 1
        await scene.fake.write("first")
        await scene.timers.until_paused(500, 1_000)
        await scene.fake.write("second")
        await scene.fake.answered_ping()
        scene.fake.forget()
        await scene.fake.drop()
        await scene.pauses(2)
        scene.timers.pass_ms(1_000)
        await scene.stored(2)

        assert [one.text for one in scene.inbox.stored] == ["first", "second"]


async def test_a_file_that_never_comes_keeps_nobody_else_s_message_away():
    async with slack_scene() as scene:
        scene.fake.fail("file", HANG)
        file = {"name": "a.png", "mimetype": "image/png", "url_private": f"{scene.fake.url}/files/a.png"}
        await scene.fake.write("look", files=[file])
        await scene.facts.until(lambda: scene.fake.called("file"))
        await scene.fake.write("hello")
        await scene.fake.answered_ping()
        scene.fake.forget()
        scene.timers.pass_ms(60_000)
        await scene.stored(2)

        assert [one.text.splitlines()[0] for one in scene.inbox.stored] == ["look", "hello"]


async def test_a_channel_that_can_t_store_is_not_well_because_it_is_connected_again():
    async with slack_scene() as scene:
        scene.inbox.failures = 2
        await scene.fake.write("hello")
        await scene.timers.until_paused(500, 1_000)
        await scene.fake.send({"type": "disconnect", "reason": "warning"})
        await scene.connected(2)
        await scene.fake.answered_ping()

        assert scene.channel.health.reason == "messages can't be stored: test_agent_failure"


async def test_a_channel_that_is_not_connected_is_not_well_because_it_can_store():
    async with slack_scene() as scene:
        scene.inbox.failures = 1
        await scene.fake.write("hello")
        store_ms = await scene.timers.until_paused(500, 1_000)
        scene.fake.fail("apps.connections.open", *[Refused("internal_error")] * 2)
        await scene.fake.drop()
        await scene.pauses(2)
        scene.timers.pass_ms(max(1_000, store_ms))
        await scene.stored()
        await scene.timers.until_paused(1_000, 2_000)

        assert scene.channel.health.reason == "internal_error"


async def test_a_ping_that_can_t_be_answered_any_more_ends_no_channel():
    async with slack_scene() as scene:
        scene.inbox.failures = 1
        await scene.fake.write("hello")
        await scene.fake.sockets[-1].ping()
        await scene.fake.drop()
        await scene.pauses(2)
        scene.timers.pass_ms(1_000)
        await scene.connected(2)

        assert (await scene.stored()).text == "hello"


async def test_what_was_written_while_nobody_listened_is_taken_after_the_start():
    async with slack_scene(connected=False) as scene:
        await scene.fake.write("while you were away")
        await scene.start()

        assert (await scene.stored()).text == "while you were away"


async def test_a_channel_that_stops_is_not_sent_events_any_more_and_the_next_one_has_them():
    async with slack_scene() as scene:
        await scene.stop()
        await scene.facts.until(lambda: not scene.fake.sockets)
        await scene.fake.write("hello")
        scene.channel = scene.open()
        await scene.start()

        assert (await scene.stored()).text == "hello"


async def test_pauses_grow_while_slack_is_away():
    async with slack_scene(connected=False) as scene:
        scene.fake.fail("apps.connections.open", *[Refused(None, 502)] * 3)
        await scene.begin()
        for least_ms in (500, 1_000, 2_000):
            scene.timers.pass_ms(await scene.timers.until_paused(least_ms, 2 * least_ms))
        await scene.connected(1)

        assert len(scene.fake.called("apps.connections.open")) == 4


@pytest.mark.parametrize(("asked", "waited_ms"), [("17", 17_000), ("999999999", 300_000)])
async def test_as_long_as_slack_asks_for_is_waited_but_not_for_ever(asked, waited_ms):
    async with slack_scene(connected=False) as scene:
        scene.fake.fail("apps.connections.open", Refused("ratelimited", 429, retry_after=asked))
        await scene.begin()
        scene.timers.pass_ms(await scene.timers.until_paused(waited_ms, waited_ms))

        await scene.connected(1)


@pytest.mark.parametrize("fault", [RESET, "{", "[]", '{"ok": true, "url": "file:///etc"}', '{"ok": true}'])
async def test_an_address_that_is_not_given_is_asked_for_again(fault):
    async with slack_scene(connected=False) as scene:
        scene.fake.fail("apps.connections.open", fault)
        await scene.begin()
        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))

        await scene.connected(1)


async def test_a_call_that_hangs_is_given_up():
    async with slack_scene(connected=False) as scene:
        scene.fake.fail("apps.connections.open", HANG)
        await scene.begin()
        await scene.facts.until(lambda: scene.fake.called("apps.connections.open"))
        scene.timers.pass_ms(await scene.timers.until_paused(30_000, 30_000))
        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))

        await scene.connected(1)


async def test_a_connection_without_a_hello_is_given_up():
    async with slack_scene(connected=False) as scene:
        scene.fake.greets = False
        await scene.begin()
        await scene.connected(1)
        assert scene.channel.health.state == "starting"
        scene.fake.greets = True
        scene.timers.pass_ms(await scene.timers.until_paused(30_000, 30_000))
        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))
        await scene.connected(2)

        await scene.acknowledged(await scene.fake.write("hello"))


async def test_a_connection_that_is_dead_without_an_end_is_replaced(monkeypatch):
    monkeypatch.setattr(api, "HEARTBEAT_S", 0.05)
    async with slack_scene(connected=False) as scene:
        scene.fake.pongs = False
        await scene.start()
        pause_ms = await scene.timers.until_paused(500, 1_000)
        scene.fake.pongs = True
        scene.timers.pass_ms(pause_ms)

        await scene.connected(2)


@pytest.mark.parametrize("reason", ["link_disabled", "too_many_websockets"])
async def test_a_disconnect_for_another_reason_is_waited_out_and_told(reason):
    async with slack_scene() as scene:
        await scene.fake.send({"type": "disconnect", "reason": reason})
        pause_ms = await scene.timers.until_paused(500, 1_000)

        assert scene.channel.health.reason == f"disconnected, {reason}"
        scene.timers.pass_ms(pause_ms)
        await scene.connected(2)


async def test_a_connection_that_begins_with_something_else_is_none():
    async with slack_scene(connected=False) as scene:
        scene.fake.greeting = {"type": "disconnect", "reason": "too_many_websockets"}
        await scene.begin()
        pause_ms = await scene.timers.until_paused(500, 1_000)

        assert scene.channel.health.reason == "no hello but disconnect, too_many_websockets"
        scene.fake.greeting = HELLO
        scene.timers.pass_ms(pause_ms)
        await scene.connected(2)


@pytest.mark.parametrize(
    "frame", ["[" * 100_000, "", "{", "[]", "null", {"type": "events_api"}, {"payload": 7}, {}]
)
async def test_frames_that_say_nothing_are_passed_over(frame):
    async with slack_scene() as scene:
        await scene.fake.send(frame)
        await scene.fake.write("hello")

        assert (await scene.stored()).text == "hello"
        assert scene.fake.connections == 1


async def test_other_envelopes_than_events_are_acknowledged():
    async with slack_scene() as scene:
        await scene.fake.send({"type": "slash_commands", "envelope_id": "e9", "payload": {}})

        await scene.acknowledged("e9")


async def test_an_unknown_app_token_ends_the_channel_and_is_told_without_the_token():
    async with slack_scene(connected=False) as scene:
        scene.fake.known_app = "xapp-another"
        await scene.begin()
        with pytest.raises(ChannelCredentialsRefused) as refused:
            await scene.channel.watch()

        assert "channels.team.appToken" in str(refused.value)
        assert "xapp" not in str(refused.value)
        assert scene.channel.health.state == "stopped"


async def test_an_app_token_that_is_revoked_later_ends_the_channel():
    async with slack_scene() as scene:
        scene.fake.fail("apps.connections.open", Refused("token_revoked"))
        await scene.fake.drop()
        scene.timers.pass_ms(await scene.timers.until_paused(500, 1_000))

        with pytest.raises(ChannelCredentialsRefused, match="token_revoked"):
            await scene.channel.watch()
