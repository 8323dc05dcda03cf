"""The channel of one Slack bot."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from channels.adapters.slack.api import SlackApi
from channels.adapters.slack.events import arrival_of
from channels.adapters.slack.listening import Listener
from channels.adapters.slack.options import read_options
from channels.adapters.slack.refusals import SlackRefused
from channels.adapters.slack.sending import MAX_UNITS, Sender
from channels.base import ChannelBase
from channels.bridge import AgentBridge
from channels.config import ChannelConfig
from channels.errors import ChannelCredentialsRefused, ChatServiceUnreachable
from channels.files import Files
from channels.health import ChannelHealth, Hearing
from channels.inbox import Inbox
from channels.intake import Intake
from channels.parts import ChannelParts
from channels.splitting import split_markdown, utf16_units


def open_channel(
    config: ChannelConfig, *, bridge: AgentBridge, parts: ChannelParts, inbox: Inbox
) -> "SlackChannel":
    """Make the channel; see ``channels.adapters.registry``."""
    return SlackChannel(config, bridge=bridge, parts=parts, inbox=inbox)


class SlackChannel(ChannelBase):
    """Receives events by Socket Mode where there is an app token; else the web does, see ``SlackDoor``."""

    def __init__(
        self, config: ChannelConfig, *, bridge: AgentBridge, parts: ChannelParts, inbox: Inbox
    ) -> None:
        """Make it; nothing is connected yet.

        Raises:
            ChannelConfigInvalid: see ``read_options``.
        """
        super().__init__(config, bridge=bridge, parts=parts)
        options = read_options(config)
        self._api = SlackApi(config.token.get_secret_value(), options, parts.timers)
        self._sender = Sender(self._api, parts.timers)
        files = Files(self._api, folder=parts.files, timers=parts.timers)
        self._intake = Intake(config, inbox, files=files, pairing=parts.pairing, reply=self.reply)
        self._listener = (
            Listener(
                self._api,
                self._take,
                app_token=options.app_token.get_secret_value(),
                channel=config.name,
                timers=parts.timers,
            )
            if options.app_token is not None
            else None
        )
        self._hearing = self._listener.hearing if self._listener is not None else Hearing(config.name)
        self._bot_id = ""
        self._listening: asyncio.Task[None] | None = None

    @property
    def health(self) -> ChannelHealth:
        """Whether messages are received; where the web receives them, whether the bot's token is good."""
        return self._hearing.health

    async def connect(self) -> None:
        """Learn who the bot is, and begin to receive events.

        Raises:
            ChannelCredentialsRefused: Slack does not accept the bot's token.
            ChatServiceUnreachable: it gave no answer, or another one.
        """
        try:
            self._bot_id = await self._api.bot_id()
        except SlackRefused as refused:
            if refused.is_about_credentials:
                raise ChannelCredentialsRefused(f"channels.{self.name}.token: {refused}") from None
            raise ChatServiceUnreachable(f"channels.{self.name}: {refused}") from None
        if self._listener is None:
            self._hearing.become("connected")
        else:
            self._listening = asyncio.create_task(self._listener.run())

    async def watch(self) -> None:
        """See ``ChannelBase``."""
        if self._listening is None:
            await super().watch()
            return
        await asyncio.wait({self._listening})
        if not self._listening.cancelled():
            self._listening.result()

    async def disconnect(self) -> None:
        """See ``ChannelBase``; answers can be sent until the channel is closed."""
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.wait({self._listening})

    async def close(self) -> None:
        """See ``ChannelBase``; what is still being said is said after the next start."""
        await super().close()
        await self._intake.close()
        await self._api.close()

    async def send_message(
        self, chat_id: str, text: str, *, thread_id: str | None = None, delivery_id: str | None = None
    ) -> str | None:
        """See ``ChannelBase``."""
        del delivery_id  # Slack knows no message again
        return await self._sender.send(chat_id, text, thread_id=thread_id)

    def split_message(self, text: str) -> Sequence[str]:
        """See ``ChannelBase``."""
        return split_markdown(text, max_units=MAX_UNITS, count_units=utf16_units)

    async def _take(self, payload: Mapping[str, Any]) -> None:
        arrival = arrival_of(payload, channel=self.name, bot_id=self._bot_id)
        if arrival is not None:
            await self._intake.take(arrival)
