"""Takes stored messages out of the inbox, in their order, and has each handled."""

import asyncio

from channels.base import ChannelBase
from channels.envelope import Envelope
from channels.inbox import Inbox
from channels.timers import wind_up
from core.errors import MemlaneError
from core.logs import get_logger

MAX_UNDER_WAY = 1_000

_log = get_logger(__name__)


class Inflow:
    """Feeds one channel from its inbox until it is stopped."""

    def __init__(self, channel: ChannelBase, inbox: Inbox) -> None:
        self._channel = channel
        self._inbox = inbox
        self._under_way: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Have messages handled, each beside those before it, until this is cancelled.

        Raises:
            MemlaneError: the inbox can't be read.
        """
        while True:
            for message in await self._inbox.take():
                task = asyncio.create_task(self._see_through(message.envelope))
                self._under_way.add(task)
                task.add_done_callback(self._under_way.discard)
            if len(self._under_way) >= MAX_UNDER_WAY:
                await asyncio.wait(set(self._under_way), return_when=asyncio.FIRST_COMPLETED)

    async def drain(self, *, limit_s: float) -> None:
        """Let what is under way end, and cut off what does not in time: the next start tells of it."""
        await wind_up(self._under_way, limit_s=limit_s)

    async def _see_through(self, envelope: Envelope) -> None:
        try:
            await self._channel.handle_inbound(envelope)
        except Exception as error:  # noqa: BLE001 - the outermost frame of a message
            _log.warning(
                "channel_message_failed",
                channel=envelope.channel_name,
                reason=type(error).__name__,
                exc_info=not isinstance(error, MemlaneError),
            )
            await self._channel.tell_failure(envelope, error)
