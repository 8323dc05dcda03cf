"""How a Telegram channel begins, over real HTTP."""

import pytest
from pydantic import SecretStr

from channels.errors import ChannelCredentialsRefused, ChatServiceUnreachable
from tests.support.channels.fake_telegram import RESET, fake_telegram, refusal
from tests.support.channels.telegram_scene import telegram_scene


async def test_connecting_leaves_what_was_written_meanwhile_and_takes_it():
    async with telegram_scene(connected=False) as scene:
        scene.fake.write("while you were away")
        await scene.start()

        assert (await scene.stored()).text == "while you were away"
        methods = [call.method for call in scene.fake.calls]
        assert methods[:3] == ["getMe", "deleteWebhook", "getUpdates"]
        assert scene.fake.called("deleteWebhook")[0].get("drop_pending_updates") in (None, "false")


async def test_polls_ask_for_messages_only_and_say_how_long_they_wait():
    async with telegram_scene() as scene:
        await scene.polls(1)

        assert scene.fake.called("getUpdates") == [{"timeout": "20", "allowed_updates": '["message"]'}]


async def test_commands_are_registered_when_that_is_configured():
    async with telegram_scene(extra={"registerCommands": True}) as scene:
        assert '"cancel"' in scene.fake.called("setMyCommands")[0]["commands"]
    async with telegram_scene() as scene:
        assert scene.fake.called("setMyCommands") == []


async def test_an_unknown_token_is_told_without_the_token():
    async with telegram_scene(connected=False, token=SecretStr("4711:another")) as scene:
        with pytest.raises(ChannelCredentialsRefused) as refused:
            await scene.start()

        assert "channels.team.token" in str(refused.value)
        assert "another" not in str(refused.value)


@pytest.mark.parametrize("fault", [RESET, refusal(502, "Bad Gateway"), refusal(429, "Later", retry_after=9)])
async def test_a_service_that_is_away_is_no_reason_to_give_up_for_good(fault):
    async with telegram_scene(connected=False) as scene:
        scene.fake.fail("getMe", fault)
        with pytest.raises(ChatServiceUnreachable):
            await scene.start()

        await scene.start()
        await scene.polls(1)


async def test_requests_go_through_the_proxy_that_is_configured():
    async with fake_telegram() as proxy:
        extra = {"proxy": proxy.url, "apiUrl": "http://api.invalid"}
        async with telegram_scene(extra=extra):
            assert [call.method for call in proxy.calls[:2]] == ["getMe", "deleteWebhook"]
            assert all(call.is_proxied for call in proxy.calls)


async def test_requests_go_through_the_proxy_of_the_environment(monkeypatch):
    async with fake_telegram() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        async with telegram_scene(extra={"apiUrl": "http://api.invalid"}):
            assert all(call.is_proxied for call in proxy.calls)
            assert proxy.called("getMe")
