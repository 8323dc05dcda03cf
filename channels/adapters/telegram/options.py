"""What only a Telegram channel has of configuration."""

import re

from pydantic import Field

from channels.adapters.options import AN_HTTP_URL, HTTP_URL, AdapterOptions, read_extra
from channels.config import ChannelConfig
from channels.errors import ChannelConfigInvalid

API_URL = "https://api.telegram.org"
LONGEST_POLL_S = 50  # what Telegram grants

_TOKEN = re.compile(r"[0-9]+:[A-Za-z0-9_-]+")


class TelegramOptions(AdapterOptions):
    """Extra keys of a channel.

    Attributes:
        api_url: of the Bot API, without what follows the host; another one for a server of one's own.
        proxy: URL of an HTTP or SOCKS proxy; None means what the environment says, if anything.
        poll_timeout: how long Telegram may hold a poll, seconds.
        register_commands: whether Telegram shows people the channel's commands.
    """

    api_url: str = Field(API_URL, pattern=HTTP_URL, description=AN_HTTP_URL)
    proxy: str | None = Field(
        None, pattern=r"^(?:https?|socks5h?)://[^/\s]+/?$", description="an http(s) or socks5 address"
    )
    poll_timeout: int = Field(
        30,
        ge=1,
        le=LONGEST_POLL_S,
        strict=True,
        description=f"a number of seconds from 1 to {LONGEST_POLL_S}",
    )
    register_commands: bool = Field(default=False, strict=True, description="true or false")


def read_options(config: ChannelConfig) -> TelegramOptions:
    """Read the extra keys, and look at the token's form.

    Raises:
        ChannelConfigInvalid: one can't be used; the message names the place, and no value.
    """
    options = read_extra(config, TelegramOptions)
    if not _TOKEN.fullmatch(config.token.get_secret_value()):
        raise ChannelConfigInvalid(f"channels.{config.name}.token: it has not the form of a bot's token")
    return options
