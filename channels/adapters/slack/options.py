"""What only a Slack channel has of configuration."""

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic.alias_generators import to_camel

from channels.config import ChannelConfig
from channels.errors import ChannelConfigInvalid

API_URL = "https://slack.com/api"


class SlackOptions(BaseModel):
    """Extra keys of a channel; others are somebody else's.

    Attributes:
        app_token: of the app, for Socket Mode; None where Slack posts events to the service's web.
        api_url: of the Web API, without what follows the methods' common path.
        proxy: URL of an HTTP proxy; None means what the environment says, if anything.
    """

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    app_token: SecretStr | None = Field(None, min_length=1)
    api_url: str = Field(API_URL, pattern=r"^https?://[^/\s]+[^\s]*$")
    proxy: str | None = Field(None, pattern=r"^https?://[^/\s]+/?$")


OPTION_KEYS = frozenset(to_camel(name) for name in SlackOptions.model_fields)
SECRET_KEYS = frozenset({"appToken"})


def read_options(config: ChannelConfig) -> SlackOptions:
    """Read the extra keys, and see that there is a way in.

    Raises:
        ChannelConfigInvalid: one can't be used, or messages have no way in; the message names the place, and
            no value.
    """
    try:
        options = SlackOptions.model_validate(
            {key: value for key, value in config.extra.items() if key in OPTION_KEYS and value is not None}
        )
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise ChannelConfigInvalid(f"channels.{config.name}.{first['loc'][0]}: {first['msg']}") from None
    if options.app_token is None and config.client_secret is None:
        raise ChannelConfigInvalid(
            f"channels.{config.name}.appToken: it is needed for Socket Mode, or clientSecret, which is the "
            "app's signing secret, for events that Slack posts"
        )
    return options
