"""Sends messages to Slack so that each arrives, in as many parts as Slack needs."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from channels.adapters.slack.api import SlackApi
from channels.adapters.slack.mrkdwn import to_mrkdwn
from channels.adapters.slack.refusals import SlackRefused
from channels.delivering import REPEAT_NOTE
from channels.errors import DeliveryFailed
from channels.splitting import split_markdown, utf16_units
from channels.timers import Timers, pause
from core.logs import get_logger

MAX_UNITS = 4_000
MIN_UNITS = 64
MAX_WAITS = 8
FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 300_000

_TOO_LONG = "msg_too_long"
_NO_THREAD = frozenset({"thread_not_found", "message_not_found", "cannot_reply_to_message"})

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Draft:
    """A message on its way to a chat.

    Attributes:
        text: markdown.
        thread_id: None for none.
        waits: how often it has been put off.
    """

    chat_id: str
    text: str
    thread_id: str | None = None
    waits: int = 0


class Sender:
    """Sends for one bot."""

    def __init__(self, api: SlackApi, timers: Timers) -> None:
        self._api = api
        self._timers = timers

    async def send(self, chat_id: str, text: str, *, thread_id: str | None = None) -> str | None:
        """Send markdown as one message, or as several when it is too long; returns the first one's id.

        Raises:
            DeliveryFailed: not all of it could be sent.
        """
        waiting = deque([Draft(chat_id, text, thread_id)])
        first_id = None
        while waiting:
            draft = waiting.popleft()
            try:
                sent_id = await self._post(draft)
                first_id = first_id or sent_id
            except SlackRefused as refused:
                waiting.extendleft(reversed(await self._instead(draft, refused)))
        return first_id

    async def _post(self, draft: Draft) -> str:
        text = to_mrkdwn(draft.text)
        if utf16_units(text) > MAX_UNITS:  # Slack would cut it where it likes
            raise SlackRefused(_TOO_LONG, may_pass=False)
        return await self._api.post(draft.chat_id, text, thread_id=draft.thread_id)

    async def _instead(self, draft: Draft, refused: SlackRefused) -> Sequence[Draft]:
        """What to send now that a message was not taken; waits first, where that helps.

        Raises:
            DeliveryFailed: nothing would help.
        """
        instead = other_form(draft, refused)
        if instead:
            _log.info("channel_message_changed", reason=refused.reason, parts=len(instead))
            return instead
        wait_ms = wait_before_repeat(draft, refused)
        if wait_ms is None:
            raise DeliveryFailed(str(refused), retry_after_s=refused.retry_after_s)
        await pause(wait_ms, self._timers)
        return (repeated(draft, refused),)


def other_form(draft: Draft, refused: SlackRefused) -> Sequence[Draft]:
    """The forms in which a refused message can be sent at once; empty when its form is not the trouble."""
    if refused.reason == _TOO_LONG:
        return halves(draft)
    if refused.reason in _NO_THREAD and draft.thread_id is not None:
        return (replace(draft, thread_id=None),)
    return ()


def halves(draft: Draft) -> Sequence[Draft]:
    """A message in shorter ones; empty when it is as short as can be."""
    longest = max(MIN_UNITS, utf16_units(draft.text) // 2)
    texts = split_markdown(draft.text, max_units=longest, count_units=utf16_units)
    return tuple(replace(draft, text=text) for text in texts) if texts != [draft.text] else ()


def wait_before_repeat(draft: Draft, refused: SlackRefused) -> int | None:
    """Milliseconds until a message should be sent again; None when it should not."""
    if not refused.may_pass or draft.waits >= MAX_WAITS:
        return None
    wait_ms = (refused.retry_after_s or 0) * 1000 or FIRST_WAIT_MS << draft.waits
    return wait_ms if wait_ms <= LONGEST_WAIT_MS else None


def repeated(draft: Draft, refused: SlackRefused) -> Draft:
    """A message for another try; it says so when the one before may have arrived."""
    again = replace(draft, waits=draft.waits + 1)
    if not refused.is_unsure or draft.text.startswith(REPEAT_NOTE):
        return again
    return replace(again, text=f"{REPEAT_NOTE}\n\n{draft.text}")
