"""What only a Slack channel has of configuration."""

import subprocess
import sys

import pytest
from pydantic import SecretStr

from channels.adapters.registry import TYPES
from channels.adapters.slack.options import read_options
from channels.config import ChannelConfig
from channels.config_reading import read_channel
from channels.errors import ChannelConfigInvalid


def options(*, signing=None, token="xoxb-1", **extra):
    secret = SecretStr(signing) if signing is not None else None
    config = ChannelConfig(
        name="team",
        type="slack",
        cwd="/srv/work",
        token=SecretStr(token),
        client_secret=secret,
        extra=extra,
    )
    return read_options(config)


def test_an_app_token_is_enough():
    found = options(appToken=SecretStr("xapp-1"), permissions="ask")

    assert found.app_token == SecretStr("xapp-1")
    assert (found.api_url, found.proxy) == ("https://slack.com/api", None)


def test_a_signing_secret_is_enough():
    assert options(signing="s3cret").app_token is None


def test_without_either_nothing_could_come_in():
    with pytest.raises(ChannelConfigInvalid, match=r"channels\.team\.appToken: .*clientSecret"):
        options(appToken=None)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("apiUrl", "slack.com"),
        ("apiUrl", 8081),
        ("apiUrl", "file:///s3cret"),
        ("proxy", "s3cret@127.0.0.1"),
        ("proxy", "socks5://127.0.0.1:1080"),
        ("appToken", 7),
    ],
)
def test_what_can_t_be_used_is_told_with_its_place_and_without_its_value(key, value):
    with pytest.raises(ChannelConfigInvalid) as refused:
        options(signing="other", **{key: value})

    assert str(refused.value).startswith(f"channels.team.{key}: ")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize(
    ("token", "app_token", "key"), [("xapp-s3cret", "xapp-1", "token"), ("xoxb-1", "xoxb-s3cret", "appToken")]
)
def test_tokens_that_are_mixed_up_are_told_with_their_place_and_without_their_value(token, app_token, key):
    with pytest.raises(ChannelConfigInvalid) as refused:
        options(token=token, appToken=SecretStr(app_token))

    assert str(refused.value).startswith(f"channels.team.{key}: ")
    assert "s3cret" not in str(refused.value)


def test_the_app_token_may_stand_in_the_environment_and_threads_have_sessions():
    raw = {"type": "slack", "token": "$BOT", "appToken": "$APP"}
    read = read_channel("team", raw, environment={"BOT": "b", "APP": "a"}, cwd="/srv/work", types=TYPES)

    assert read_options(read.config).app_token == SecretStr("a")
    assert read.config.session_scope == "thread"


@pytest.mark.parametrize("value", ["$APP", 7])
def test_an_app_token_that_can_t_be_read_is_told_with_its_place(value):
    raw = {"type": "slack", "token": "b", "appToken": value}
    with pytest.raises(ChannelConfigInvalid, match=r"channels\.team\.appToken"):
        read_channel("team", raw, environment={}, cwd="/srv/work", types=TYPES)


def test_the_client_is_loaded_only_when_a_channel_uses_it():
    script = (
        "import sys, channels.adapters.registry, channels.adapters.slack.door; "
        "sys.exit('slack_sdk' in sys.modules or 'aiohttp' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
