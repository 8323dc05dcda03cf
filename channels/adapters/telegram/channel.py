"""The channel of one Telegram bot."""

import asyncio
from collections.abc import Sequence

from telegram import Update
from telegram.error import TelegramError

from channels import replies
from channels.adapters.telegram.api import UNREADABLE, open_bot
from channels.adapters.telegram.backoff import fault_of
from channels.adapters.telegram.envelopes import arrival_of
from channels.adapters.telegram.files import TelegramFiles
from channels.adapters.telegram.options import TelegramOptions, read_options
from channels.adapters.telegram.polling import Poller
from channels.adapters.telegram.sending import MAX_UNITS, Sender, thread_number
from channels.adapters.telegram.typing_action import Place, Typing
from channels.arrivals import Arrival
from channels.base import ChannelBase
from channels.bridge import AgentBridge
from channels.config import ChannelConfig
from channels.errors import ChannelCredentialsRefused, ChatServiceUnreachable
from channels.files import Files
from channels.health import ChannelHealth
from channels.inbox import Inbox
from channels.intake import Intake
from channels.parts import ChannelParts
from channels.splitting import split_markdown, utf16_units
from core.errors import MemlaneError
from core.logs import get_logger

_log = get_logger(__name__)


def open_channel(
    config: ChannelConfig, *, bridge: AgentBridge, parts: ChannelParts, inbox: Inbox
) -> "TelegramChannel":
    """Make the channel; see ``channels.adapters.registry``."""
    return TelegramChannel(config, bridge=bridge, parts=parts, inbox=inbox)


class TelegramChannel(ChannelBase):
    """Polls for messages, and sends answers as HTML."""

    def __init__(
        self, config: ChannelConfig, *, bridge: AgentBridge, parts: ChannelParts, inbox: Inbox
    ) -> None:
        """Make it; nothing is connected yet.

        Raises:
            ChannelConfigInvalid: see ``read_options`` and ``open_bot``.
        """
        super().__init__(config, bridge=bridge, parts=parts)
        self._options: TelegramOptions = read_options(config)
        self._bot = open_bot(config, self._options)
        self._sender = Sender(self._bot, parts.timers)
        self._typing = Typing(self._bot, parts.timers)
        files = Files(TelegramFiles(self._bot), folder=parts.files, timers=parts.timers)
        self._intake = Intake(config, inbox, files=files, pairing=parts.pairing, reply=self.reply)
        self._poller = Poller(
            self._bot,
            self._take,
            channel=config.name,
            timers=parts.timers,
            poll_timeout_s=self._options.poll_timeout,
        )
        self._polling: asyncio.Task[None] | None = None

    @property
    def health(self) -> ChannelHealth:
        """Whether messages are received."""
        return self._poller.hearing.health

    async def connect(self) -> None:
        """Begin to receive messages, those that were written meanwhile first.

        Raises:
            ChannelCredentialsRefused: Telegram does not know the token.
            ChatServiceUnreachable: it gave no answer, or another one.
        """
        try:
            await self._bot.initialize()
            await self._bot.delete_webhook(drop_pending_updates=False)
            if self._options.register_commands:
                await self._bot.set_my_commands(tuple(replies.COMMANDS.items()))
        except TelegramError as error:
            raise self._unconnected(error) from None
        self._polling = asyncio.create_task(self._poller.run())

    async def watch(self) -> None:
        """See ``ChannelBase``."""
        if self._polling is not None:
            await asyncio.wait({self._polling})
            if not self._polling.cancelled():
                self._polling.result()

    async def disconnect(self) -> None:
        """See ``ChannelBase``; answers can be sent until the channel is closed."""
        if self._polling is not None:
            self._polling.cancel()
            await asyncio.wait({self._polling})

    async def close(self) -> None:
        """See ``ChannelBase``; what is still being said is said after the next start."""
        await super().close()
        await self._typing.close()
        await self._intake.close()
        await self._bot.close_requests()

    async def send_message(
        self, chat_id: str, text: str, *, thread_id: str | None = None, delivery_id: str | None = None
    ) -> str | None:
        """See ``ChannelBase``."""
        del delivery_id  # Telegram knows no message again
        return await self._sender.send(chat_id, text, thread_id=thread_id)

    def split_message(self, text: str) -> Sequence[str]:
        """See ``ChannelBase``."""
        return split_markdown(text, max_units=MAX_UNITS, count_units=utf16_units)

    def on_prompt_start(self, chat_id: str, session_id: str, message_id: str | None) -> None:
        """Show that an answer is being written."""
        del message_id
        envelope = self.active_message(session_id)
        thread_id = envelope.thread_id if envelope is not None else None
        self._typing.start(session_id, Place(chat_id, thread_number(thread_id)))

    def on_prompt_end(self, chat_id: str, session_id: str, message_id: str | None) -> None:
        """Show it no more."""
        del chat_id, message_id
        self._typing.stop(session_id)

    async def _take(self, updates: Sequence[Update]) -> None:
        arrival = self._read(updates)
        if arrival is not None:
            await self._intake.take(arrival)

    def _read(self, updates: Sequence[Update]) -> Arrival | None:
        messages = [(update.update_id, update.message) for update in updates]
        try:
            return arrival_of(messages, channel=self.name, bot=self._bot.bot)
        except UNREADABLE as error:  # the next poll would bring it again, and again
            _log.error("channel_message_unreadable", channel=self.name, kind=type(error).__name__)
            return None

    def _unconnected(self, error: TelegramError) -> MemlaneError:
        fault = fault_of(error)
        if fault.kind == "token":
            return ChannelCredentialsRefused(
                f"channels.{self.name}.token: Telegram does not accept it ({fault.reason})"
            )
        return ChatServiceUnreachable(f"channels.{self.name}: Telegram: {fault.reason}")
