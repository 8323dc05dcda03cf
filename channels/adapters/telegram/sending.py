"""Sends messages to Telegram so that each arrives, in whatever form Telegram takes it."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from telegram import Bot, LinkPreviewOptions
from telegram.constants import ParseMode
from telegram.error import TelegramError

from channels.adapters.telegram.api import ApiRefused, reason_of
from channels.adapters.telegram.deadline import in_time
from channels.adapters.telegram.envelopes import GENERAL_TOPIC
from channels.adapters.telegram.html import shown_units, to_html
from channels.delivering import REPEAT_NOTE
from channels.errors import DeliveryFailed
from channels.splitting import split_markdown, utf16_units
from channels.timers import Timers, pause
from core.logs import get_logger

MAX_UNITS = 4096
MIN_UNITS = 64
MAX_WAITS = 8
SEND_LIMIT_MS = 40_000
FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 300_000

_NO_PREVIEW = LinkPreviewOptions(is_disabled=True)
# a request that failed so never left
_NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "ProxyError"})

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Draft:
    """A message on its way to a chat.

    Attributes:
        text: markdown.
        thread_id: topic; None for none, and for the one that every group with topics has.
        is_plain: whether it goes out as it was written.
        waits: how often it has been put off.
    """

    chat_id: str
    text: str
    thread_id: int | None = None
    is_plain: bool = False
    waits: int = 0


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
        waiting = deque([Draft(chat_id, text, thread_number(thread_id))])
        first_id = None
        while waiting:
            draft = waiting.popleft()
            try:
                sent_id = await self._post(draft)
                first_id = first_id or sent_id
            except TelegramError as error:
                waiting.extendleft(reversed(await self._instead(draft, error)))
        return first_id

    async def _post(self, draft: Draft) -> str:
        text = draft.text if draft.is_plain else to_html(draft.text)
        if (utf16_units(text) if draft.is_plain else shown_units(text)) > MAX_UNITS:
            raise TooLong("message is too long")
        call = self._bot.send_message(
            draft.chat_id,
            text,
            parse_mode=None if draft.is_plain else ParseMode.HTML,
            message_thread_id=draft.thread_id,
            link_preview_options=_NO_PREVIEW,
        )
        sent = await in_time(call, SEND_LIMIT_MS, self._timers)
        return str(sent.message_id)

    async def _instead(self, draft: Draft, error: TelegramError) -> Sequence[Draft]:
        """What to send now that a message was not taken; waits first, where that helps.

        Raises:
            DeliveryFailed: nothing would help.
        """
        instead = other_form(draft, error)
        if instead:
            _log.info("channel_message_changed", reason=reason_of(error), parts=len(instead))
            return instead
        wait_ms = wait_before_repeat(draft, error)
        if wait_ms is None:
            retry_after_s = error.retry_after_s if isinstance(error, ApiRefused) else None
            raise DeliveryFailed(f"Telegram: {reason_of(error)}", retry_after_s=retry_after_s)
        await pause(wait_ms, self._timers)
        return (repeated(draft, error),)


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


def halves(draft: Draft) -> Sequence[Draft]:
    """A message in shorter ones; empty when it is as short as can be."""
    units = utf16_units(draft.text)
    if units <= MIN_UNITS:
        return ()
    texts = split_markdown(draft.text, max_units=max(MIN_UNITS, units // 2), count_units=utf16_units)
    return tuple(replace(draft, text=text) for text in texts) if len(texts) > 1 else ()


def wait_before_repeat(draft: Draft, error: TelegramError) -> int | None:
    """Milliseconds until a message should be sent again; None when it should not."""
    if draft.waits >= MAX_WAITS:
        return None
    grown_ms = FIRST_WAIT_MS << draft.waits
    if not isinstance(error, ApiRefused):
        return grown_ms
    if error.status == 429:
        wait_ms = round((error.retry_after_s or 0) * 1000) or grown_ms
        return wait_ms if wait_ms <= LONGEST_WAIT_MS else None
    return grown_ms if error.status >= 500 else None


def repeated(draft: Draft, error: TelegramError) -> Draft:
    """A message for another try; it says so when the one before may have arrived."""
    again = replace(draft, waits=draft.waits + 1)
    cause = type(error.__cause__).__name__
    if isinstance(error, ApiRefused) or cause in _NEVER_SENT or draft.text.startswith(REPEAT_NOTE):
        return again
    return replace(again, text=f"{REPEAT_NOTE}\n\n{draft.text}")
