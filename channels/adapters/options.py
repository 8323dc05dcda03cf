"""Configuration that only one adapter has, read into a model of its own."""

from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from channels.config import ChannelConfig
from channels.errors import ChannelConfigInvalid

HTTP_URL = r"^https?://[^/\s]+[^\s]*$"
AN_HTTP_URL = "an http(s) address"


class AdapterOptions(BaseModel):
    """Extra keys of a channel, camelCase as they are written; others are somebody else's.

    A field's description says what is needed there, as a noun.
    """

    model_config = ConfigDict(alias_generator=to_camel, frozen=True)

    @classmethod
    def keys(cls) -> frozenset[str]:
        """The keys as they are written."""
        return frozenset(to_camel(name) for name in cls.model_fields)


_O = TypeVar("_O", bound=AdapterOptions)


def read_extra(config: ChannelConfig, options: type[_O]) -> _O:
    """Read the extra keys of a channel.

    Raises:
        ChannelConfigInvalid: one can't be used; the message names the place, and no value.
    """
    known = options.keys()
    given = {key: value for key, value in config.extra.items() if key in known and value is not None}
    try:
        return options.model_validate(given)
    except ValidationError as error:
        key = str(error.errors(include_input=False, include_url=False)[0]["loc"][0])
        needed = next(one.description for name, one in options.model_fields.items() if to_camel(name) == key)
        raise ChannelConfigInvalid(f"channels.{config.name}.{key}: {needed} is needed") from None
