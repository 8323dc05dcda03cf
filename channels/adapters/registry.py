"""The chat services that there are adapters for; each is loaded when it is used."""

import importlib
from dataclasses import dataclass
from typing import Protocol, cast

from channels.adapters.slack import options as slack
from channels.adapters.telegram import options as telegram
from channels.adapters.webhook import options as webhook
from channels.base import ChannelBase
from channels.bridge import AgentBridge
from channels.config import ChannelConfig
from channels.config_reading import AdapterType
from channels.inbox import Inbox
from channels.parts import ChannelParts


class OpenAdapter(Protocol):
    """Makes a channel of one type; it connects later."""

    def __call__(
        self, config: ChannelConfig, *, bridge: AgentBridge, parts: ChannelParts, inbox: Inbox
    ) -> ChannelBase:
        """Make the channel.

        Raises:
            ChannelConfigInvalid: what only this adapter knows of its configuration is wrong.
        """
        ...


@dataclass(frozen=True, slots=True)
class Adapter:
    """One chat service.

    Attributes:
        module: has ``open_channel``, an ``OpenAdapter``.
    """

    type: AdapterType
    module: str


ADAPTERS: tuple[Adapter, ...] = (
    Adapter(
        AdapterType(
            "telegram",
            required=frozenset({"token"}),
            extra=telegram.TelegramOptions.keys(),
            examine=telegram.read_options,
        ),
        "channels.adapters.telegram.channel",
    ),
    Adapter(
        AdapterType(
            "slack",
            required=frozenset({"token"}),
            extra=slack.SlackOptions.keys(),
            secrets=slack.SECRET_KEYS,
            session_scope="thread",
            examine=slack.read_options,
        ),
        "channels.adapters.slack.channel",
    ),
    Adapter(
        AdapterType(
            "webhook",
            required=frozenset({"token", "callbackUrl"}),
            extra=webhook.WebhookOptions.keys(),
            examine=webhook.read_options,
        ),
        "channels.adapters.webhook.channel",
    ),
)

TYPES: tuple[AdapterType, ...] = tuple(adapter.type for adapter in ADAPTERS)


def open_channel(
    config: ChannelConfig, *, bridge: AgentBridge, parts: ChannelParts, inbox: Inbox
) -> ChannelBase:
    """Make the channel that is configured.

    Args:
        config: of a type that is listed here.

    Raises:
        ChannelConfigInvalid: see ``OpenAdapter``.
    """
    module = next(adapter.module for adapter in ADAPTERS if adapter.type.name == config.type)
    opener = cast("OpenAdapter", importlib.import_module(module).open_channel)  # by name, to load it late
    return opener(config, bridge=bridge, parts=parts, inbox=inbox)
