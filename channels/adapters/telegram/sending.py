"""Sends messages to Telegram, in whatever form Telegram takes them."""

from collections.abc import Sequence
from dataclasses import replace

from telegram import Bot, LinkPreviewOptions
from telegram.constants import ParseMode
from telegram.error import TelegramError

from channels.adapters.telegram.api import ApiRefused, reason_of
from channels.adapters.telegram.deadline import in_time
from channels.adapters.telegram.envelopes import GENERAL_TOPIC
from channels.adapters.telegram.html import shown_units, to_html
from channels.drafts import Draft, NotTaken, halves, send_until_taken
from channels.splitting import utf16_units
from channels.timers import Timers

MAX_UNITS = 4096
SEND_LIMIT_MS = 40_000

_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
# a request that failed so never left
_NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError"})


class TooLong(TelegramError):
    """Telegram would not take a message of this length."""


class Sender:
    """Sends for one bot."""

    def __init__(self, bot: Bot, timers: Timers) -> None:
        self._bot = bot
        self._timers = timers

    async def send(self, chat_id: str, text: str, *, thread_id: str | None = None) -> str | None:
        """Send markdown as one message, or as several when it is too long; returns the first one's id.

        Raises:
            DeliveryFailed: not all of it could be sent.
        """
        topic = thread_id if thread_id != GENERAL_TOPIC else None
        return await send_until_taken(Draft(chat_id, text, topic), self._post, self._timers)

    async def _post(self, draft: Draft) -> str:
        try:
            return await self._hand_over(draft)
        except TelegramError as error:
            raise not_taken(draft, error) from None

    async def _hand_over(self, draft: Draft) -> str:
        text = draft.text if draft.is_plain else to_html(draft.text)
        if (utf16_units(text) if draft.is_plain else shown_units(text)) > MAX_UNITS:
            raise TooLong("message is too long")
        call = self._bot.send_message(
            draft.chat_id,
            text,
            parse_mode=None if draft.is_plain else ParseMode.HTML,
            message_thread_id=thread_number(draft.thread_id),
            link_preview_options=_NO_PREVIEW,
        )
        sent = await in_time(call, SEND_LIMIT_MS, self._timers)
        return str(sent.message_id)


def thread_number(thread_id: str | None) -> int | None:
    """The topic to name when sending; the general one is there without being named, and unknown by its id."""
    return int(thread_id) if thread_id is not None and thread_id != GENERAL_TOPIC else None


def other_form(draft: Draft, error: TelegramError) -> Sequence[Draft]:
    """The forms in which a refused message can be sent at once; empty when its form is not the trouble."""
    said = str(error).lower()
    if isinstance(error, TooLong) or "too long" in said:
        return halves(draft)
    if not isinstance(error, ApiRefused):
        return ()
    if error.moved_to is not None and error.moved_to != draft.chat_id:
        return (replace(draft, chat_id=error.moved_to),)
    if "thread not found" in said and draft.thread_id is not None:
        return (replace(draft, thread_id=None),)
    is_about_text = "parse entities" in said or "text is empty" in said or "text must be non-empty" in said
    return (replace(draft, is_plain=True),) if is_about_text and not draft.is_plain else ()


def not_taken(draft: Draft, error: TelegramError) -> NotTaken:
    """What an error means for a message."""
    reason, instead = f"Telegram: {reason_of(error)}", other_form(draft, error)
    if isinstance(error, ApiRefused):
        may_pass = error.status == 429 or error.status >= 500
        wait_s = error.retry_after_s
        return NotTaken(reason, instead=instead, may_pass=may_pass, retry_after_s=wait_s)
    never_left = type(error.__cause__).__name__ in _NEVER_SENT
    may_pass = not isinstance(error, TooLong)
    return NotTaken(reason, instead=instead, may_pass=may_pass, is_unsure=not never_left)
