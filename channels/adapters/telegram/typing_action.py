"""Shows people that an answer is being written."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from telegram import Bot
from telegram.constants import ChatAction
from telegram.error import TelegramError

from channels.adapters.telegram.backoff import fault_of
from channels.timers import Timers, pause
from channels.under_way import UnderWay
from core.logs import get_logger

if TYPE_CHECKING:
    import asyncio

REPEAT_MS = 4_000  # Telegram shows it for five seconds

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where it is shown."""

    chat_id: str
    thread_id: int | None


class Typing:
    """Shows it for each session in which a turn runs."""

    def __init__(self, bot: Bot, timers: Timers) -> None:
        self._bot = bot
        self._timers = timers
        self._shown: dict[str, asyncio.Task[None]] = {}
        self._under_way = UnderWay()

    def start(self, session_id: str, place: Place) -> None:
        """Show it until it is stopped."""
        self.stop(session_id)
        self._shown[session_id] = self._under_way.begin(self._show(place))

    def stop(self, session_id: str) -> None:
        """Show it no more; fine when it is not shown."""
        task = self._shown.pop(session_id, None)
        if task is not None:
            task.cancel()

    async def close(self) -> None:
        """Show it nowhere any more."""
        self._shown.clear()
        await self._under_way.wind_up(limit_s=0)

    async def _show(self, place: Place) -> None:
        while True:
            asked_ms = 0
            try:
                await self._bot.send_chat_action(
                    place.chat_id, ChatAction.TYPING, message_thread_id=place.thread_id
                )
            except TelegramError as error:
                fault = fault_of(error)
                _log.debug("channel_typing_not_shown", reason=fault.reason)
                asked_ms = fault.retry_after_ms
            await pause(max(REPEAT_MS, asked_ms), self._timers)
