"""What only a Slack channel has of configuration."""

from pydantic import Field, SecretStr

from channels.adapters.options import AN_HTTP_URL, HTTP_URL, AdapterOptions, read_extra
from channels.config import ChannelConfig
from channels.errors import ChannelConfigInvalid

API_URL = "https://slack.com/api"
BOT_MARK, APP_MARK = "xoxb-", "xapp-"
SECRET_KEYS = frozenset({"appToken"})


class SlackOptions(AdapterOptions):
    """Extra keys of a channel.

    Attributes:
        app_token: of the app, for Socket Mode; None where Slack posts events to the service's web.
        api_url: of the Web API, without what follows the methods' common path.
        proxy: URL of an HTTP proxy; None means what the environment says, if anything.
    """

    app_token: SecretStr | None = Field(None, min_length=1, description="an app's token")
    api_url: str = Field(API_URL, pattern=HTTP_URL, description=AN_HTTP_URL)
    proxy: str | None = Field(
        None, pattern=r"^https?://[^/\s]+/?$", description="an http(s) address without a path"
    )


def read_options(config: ChannelConfig) -> SlackOptions:
    """Read the extra keys, and see that there is a way in and no token stands in the other one's place.

    Raises:
        ChannelConfigInvalid: one can't be used, they are mixed up, or messages have no way in; the message
            names the place, and no value.
    """
    options = read_extra(config, SlackOptions)
    if options.app_token is None and config.client_secret is None:
        raise ChannelConfigInvalid(
            f"channels.{config.name}.appToken: it is needed for Socket Mode, or clientSecret, which is the "
            "app's signing secret, for events that Slack posts"
        )
    for key, token, other in (("token", config.token, APP_MARK), ("appToken", options.app_token, BOT_MARK)):
        if token is not None and token.get_secret_value().startswith(other):
            raise ChannelConfigInvalid(
                f"channels.{config.name}.{key}: here stands the other token ({other}…); "
                f"the bot's ({BOT_MARK}…) belongs to token, the app's ({APP_MARK}…) to appToken"
            )
    return options
