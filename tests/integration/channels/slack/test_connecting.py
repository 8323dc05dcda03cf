"""How a Slack channel begins, over real HTTP."""

import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from channels.errors import ChannelCredentialsRefused, ChatServiceUnreachable
from tests.support.channels.fake_slack import APP_TOKEN, BOT_TOKEN, RESET, Refused, fake_slack
from tests.support.channels.slack_scene import slack_scene


async def test_an_unknown_bot_token_is_told_without_the_token():
    async with slack_scene(connected=False, token=SecretStr("xoxb-another")) as scene:
        with pytest.raises(ChannelCredentialsRefused) as refused:
            await scene.begin()

        assert "channels.team.token" in str(refused.value)
        assert "another" not in str(refused.value)


@pytest.mark.parametrize(
    "fault", [RESET, "{", Refused(None, 502), Refused("fatal_error"), Refused("ratelimited", 429)]
)
async def test_a_service_that_is_away_is_no_reason_to_give_up_for_good(fault):
    async with slack_scene(connected=False) as scene:
        scene.fake.fail("auth.test", fault)
        with pytest.raises(ChatServiceUnreachable):
            await scene.begin()

        await scene.start()


async def test_without_an_app_token_no_connection_is_opened_and_answers_are_sent():
    extra = {"appToken": None}
    async with slack_scene(extra=extra, client_secret=SecretStr("signing")) as scene:
        assert await scene.channel.send_message("C1", "Hi.", thread_id="1.0") == "91.0"

        assert scene.channel.health.state == "connected"
        assert [method for method, _ in scene.fake.calls] == ["auth.test", "chat.postMessage"]


async def test_calls_and_connections_go_through_the_proxy_that_is_configured():
    async with fake_slack() as proxy:
        extra = {"proxy": proxy.url, "apiUrl": "http://slack.invalid/api"}
        async with slack_scene(connected=False, extra=extra) as scene:
            await scene.begin()
            await proxy.facts.until(lambda: proxy.sockets)

            assert proxy.proxied == ["slack.invalid"] * 2


async def test_calls_and_connections_go_through_the_proxy_of_the_environment(monkeypatch):
    async with fake_slack() as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        async with slack_scene(connected=False, extra={"apiUrl": "http://slack.invalid/api"}) as scene:
            await scene.begin()
            await proxy.facts.until(lambda: proxy.sockets)

            assert proxy.proxied == ["slack.invalid"] * 2


async def test_hosts_that_need_no_proxy_are_called_without(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    async with slack_scene() as scene:
        assert scene.fake.called("auth.test")


async def test_a_proxy_of_the_environment_that_can_t_be_used_is_told(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "socks5://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with slack_scene(connected=False) as scene:
        with pytest.raises(ChatServiceUnreachable, match="proxy"):
            await scene.begin()


async def test_credentials_for_other_uses_of_the_host_are_not_used(monkeypatch, tmp_path):
    (tmp_path / "netrc").write_text("default login somebody password else\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    async with slack_scene() as scene:
        await scene.channel.send_message("C1", "Hi.")

        assert scene.fake.texts == ["Hi."]


def test_neither_tokens_nor_text_nor_tickets_are_logged():
    talk = subprocess.run(
        [sys.executable, "-m", "tests.support.channels.slack_talk"],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        check=True,
    )

    assert "channel_deaf" in talk.stderr
    assert "channel_message_changed" in talk.stderr
    assert not any(secret in talk.stderr for secret in (BOT_TOKEN, APP_TOKEN, "secret-ticket", "a secret"))
