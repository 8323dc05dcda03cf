"""Asks Telegram for updates, one poll after the other, whatever happens to any of them."""

from collections.abc import Awaitable, Callable, Sequence

from telegram import Bot, Update
from telegram.error import TelegramError

from channels.adapters.telegram.api import POLL_GRACE_S
from channels.adapters.telegram.backoff import Backoff, Fault, fault_of
from channels.adapters.telegram.deadline import in_time
from channels.errors import ChannelCredentialsRefused
from channels.health import Hearing
from channels.timers import Timers, jitter, pause
from core.errors import MemlaneError

ALLOWED_UPDATES = ("message",)

TakeUpdates = Callable[[Sequence[Update]], Awaitable[None]]
"""Stores what belongs together: one update, or those of an album; raises MemlaneError when that failed."""


class Poller:
    """Receives the updates of one bot.

    Attributes:
        hearing: connected only while polls return and what they bring is stored.
    """

    def __init__(
        self, bot: Bot, take: TakeUpdates, *, channel: str, timers: Timers, poll_timeout_s: int
    ) -> None:
        self._bot = bot
        self._take = take
        self._channel = channel
        self._timers = timers
        self._timeout_s = poll_timeout_s
        self._offset: int | None = None
        self._backoff = Backoff()
        self.hearing = Hearing(channel)

    async def run(self) -> None:
        """Receive until this is cancelled.

        Raises:
            ChannelCredentialsRefused: Telegram does not know the token any more.
        """
        while True:
            try:
                await self._take_all(await self._poll())
                self.hearing.become("connected")
                self._backoff = Backoff()
            except TelegramError as error:
                await self._back_off(fault_of(error))
            except MemlaneError as error:
                await self._back_off(Fault("other", f"messages can't be stored: {error.code}"))

    async def _poll(self) -> Sequence[Update]:
        call = self._bot.get_updates(
            offset=self._offset, timeout=self._timeout_s, allowed_updates=ALLOWED_UPDATES
        )
        return await in_time(call, round((self._timeout_s + POLL_GRACE_S) * 1000), self._timers)

    async def _take_all(self, updates: Sequence[Update]) -> None:
        """Take updates in their order; the next poll tells Telegram of those that were taken, no others."""
        for group in groups_of(updates):
            await self._take(group)
            self._offset = group[-1].update_id + 1

    async def _back_off(self, fault: Fault) -> None:
        if fault.kind == "token":
            self.hearing.become("stopped", fault.reason)
            raise ChannelCredentialsRefused(
                f"channels.{self._channel}.token: Telegram does not accept it ({fault.reason})"
            )
        self.hearing.become("unhealthy", fault.reason)
        self._backoff = self._backoff.after(fault)
        pause_ms = self._backoff.pause_ms(fault, poll_timeout_s=self._timeout_s, jitter=jitter())
        await pause(pause_ms, self._timers)


def groups_of(updates: Sequence[Update]) -> list[tuple[Update, ...]]:
    """Put the pictures of an album together, which follow each other; all else stays by itself."""
    groups: list[tuple[Update, ...]] = []
    for update in updates:
        album = update.message.media_group_id if update.message is not None else None
        last = groups[-1][-1].message if groups else None
        if album is not None and last is not None and last.media_group_id == album:
            groups[-1] = (*groups[-1], update)
        else:
            groups.append((update,))
    return groups
