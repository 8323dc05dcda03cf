"""What only a Telegram channel has of configuration."""

import re

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from channels.config import ChannelConfig
from channels.errors import ChannelConfigInvalid

API_URL = "https://api.telegram.org"
LONGEST_POLL_S = 50  # what Telegram grants

_TOKEN = re.compile(r"\d+:[A-Za-z0-9_-]+")


class TelegramOptions(BaseModel):
    """Extra keys of a channel; others are somebody else's.

    Attributes:
        api_url: of the Bot API, without what follows the host; another one for a server of one's own.
        proxy: URL of an HTTP or SOCKS proxy; None means what the environment says, if anything.
        poll_timeout: how long Telegram may hold a poll, seconds.
        register_commands: whether Telegram shows people the channel's commands.
    """

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    api_url: str = Field(API_URL, pattern=r"^https?://[^/\s]+[^\s]*$")
    proxy: str | None = Field(None, pattern=r"^(?:https?|socks5h?)://[^\s]+$")
    poll_timeout: int = Field(30, ge=1, le=LONGEST_POLL_S, strict=True)
    register_commands: bool = Field(default=False, strict=True)


OPTION_KEYS = frozenset(to_camel(name) for name in TelegramOptions.model_fields)


def read_options(config: ChannelConfig) -> TelegramOptions:
    """Read the extra keys, and look at the token's form.

    Raises:
        ChannelConfigInvalid: one can't be used; the message names the place, and no value.
    """
    if not _TOKEN.fullmatch(config.token.get_secret_value()):
        raise ChannelConfigInvalid(f"channels.{config.name}.token: it has not the form of a bot's token")
    try:
        return TelegramOptions.model_validate(
            {key: value for key, value in config.extra.items() if key in OPTION_KEYS and value is not None}
        )
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ChannelConfigInvalid(f"channels.{config.name}.{first['loc'][0]}: {first['msg']}") from None
