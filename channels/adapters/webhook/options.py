"""What only a webhook channel has of configuration."""

from pydantic import Field

from channels.adapters.options import AN_HTTP_URL, HTTP_URL, AdapterOptions, read_extra
from channels.config import ChannelConfig


class WebhookOptions(AdapterOptions):
    """Extra keys of a channel.

    Attributes:
        callback_url: where answers are posted.
    """

    callback_url: str = Field(pattern=HTTP_URL, description=AN_HTTP_URL)


def read_options(config: ChannelConfig) -> WebhookOptions:
    """Read the extra keys.

    Raises:
        ChannelConfigInvalid: one can't be used; the message names the place, and no value.
    """
    return read_extra(config, WebhookOptions)
