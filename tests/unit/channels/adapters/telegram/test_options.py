"""What only a Telegram channel has of configuration."""

import subprocess
import sys

import pytest
from pydantic import SecretStr

from channels.adapters.telegram.options import read_options
from channels.config import ChannelConfig
from channels.errors import ChannelConfigInvalid

TOKEN = "4711:AAsecret-token"


def options(*, token=TOKEN, **extra):
    config = ChannelConfig(name="team", type="telegram", cwd="/srv/work", token=SecretStr(token), extra=extra)
    return read_options(config)


def test_nothing_has_to_be_configured_but_the_token():
    found = options(apiUrl=None, permissions="ask")

    assert found.api_url == "https://api.telegram.org"
    assert (found.proxy, found.poll_timeout, found.register_commands) == (None, 30, False)


def test_a_server_of_one_s_own_and_a_proxy_can_be_named():
    found = options(apiUrl="http://127.0.0.1:8081/", proxy="socks5://user:secret@127.0.0.1:1080")

    assert found.api_url == "http://127.0.0.1:8081/"
    assert found.proxy == "socks5://user:secret@127.0.0.1:1080"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("apiUrl", "api.telegram.org"),
        ("apiUrl", 8081),
        ("proxy", "s3cret@127.0.0.1"),
        ("pollTimeout", 0),
        ("pollTimeout", 51),
        ("pollTimeout", "30"),
        ("registerCommands", "yes"),
    ],
)
def test_what_can_t_be_used_is_told_with_its_place_and_without_its_value(key, value):
    with pytest.raises(ChannelConfigInvalid) as refused:
        options(**{key: value})

    assert str(refused.value).startswith(f"channels.team.{key}: ")
    assert "s3cret" not in str(refused.value)


@pytest.mark.parametrize("token", ["", "4711", "4711:", "4711:a/../b", "bot4711:abc", "4711:a b"])
def test_what_is_no_token_is_refused_before_it_is_sent_anywhere(token):
    with pytest.raises(ChannelConfigInvalid, match=r"channels\.team\.token: ") as refused:
        options(token=token)

    assert token == "" or token not in str(refused.value).partition(": ")[2]


def test_the_client_is_loaded_only_when_a_channel_uses_it():
    script = "import sys, channels.adapters.registry; sys.exit('telegram' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", script]).returncode == 0
