"""Takes stored messages out of the inbox, in their order, and has each handled."""

from channels.base import ChannelBase
from channels.envelope import Envelope
from channels.inbox import Inbox
from channels.under_way import UnderWay
from core.errors import MemlaneError
from core.logs import get_logger

MAX_UNDER_WAY = 1_000

_log = get_logger(__name__)


class Inflow:
    """Feeds one channel from its inbox until it is stopped."""

    def __init__(self, channel: ChannelBase, inbox: Inbox) -> None:
        self._channel = channel
        self._inbox = inbox
        self._under_way = UnderWay()

    async def run(self) -> None:
        """Have messages handled, each beside those before it, until this is cancelled.

        Raises:
            MemlaneError: the inbox can't be read.
        """
        while True:
            for message in await self._inbox.take():
                self._under_way.begin(self._see_through(message.envelope))
            if len(self._under_way) >= MAX_UNDER_WAY:
                await self._under_way.one_ended()

    async def drain(self, *, limit_s: float) -> None:
        """Let what is under way end, and cut off what does not in time: the next start tells of it."""
        await self._under_way.wind_up(limit_s=limit_s)

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
