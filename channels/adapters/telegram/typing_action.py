"""Shows people that an answer is being written."""

import asyncio
from dataclasses import dataclass

from telegram import Bot
from telegram.constants import ChatAction
from telegram.error import TelegramError

from channels.adapters.telegram.api import reason_of
from channels.timers import Timers, pause
from core.logs import get_logger

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
        self._ending: set[asyncio.Task[None]] = set()

    def start(self, session_id: str, place: Place) -> None:
        """Show it until it is stopped."""
        self.stop(session_id)
        self._shown[session_id] = asyncio.create_task(self._show(place))

    def stop(self, session_id: str) -> None:
        """Show it no more; fine when it is not shown."""
        task = self._shown.pop(session_id, None)
        if task is not None:
            task.cancel()
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """Show it nowhere any more."""
        for session_id in tuple(self._shown):
            self.stop(session_id)
        if self._ending:
            await asyncio.wait(set(self._ending))

    async def _show(self, place: Place) -> None:
        while True:
            try:
                await self._bot.send_chat_action(
                    place.chat_id, ChatAction.TYPING, message_thread_id=place.thread_id
                )
            except TelegramError as error:
                _log.debug("channel_typing_not_shown", reason=reason_of(error))
            await pause(REPEAT_MS, self._timers)
