"""Messages that a chat service may refuse: sent in whatever form it takes, for as long as that may help."""

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from channels.delivering import REPEAT_NOTE
from channels.errors import DeliveryFailed
from channels.splitting import split_markdown, utf16_units
from channels.timers import Timers, pause
from core.errors import DependencyError
from core.logs import get_logger

MIN_UNITS = 64
MAX_WAITS = 8
FIRST_WAIT_MS = 1_000
LONGEST_WAIT_MS = 300_000

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Draft:
    """A message on its way to a chat.

    Attributes:
        text: markdown.
        thread_id: topic or thread; None for none.
        is_plain: whether it goes out as it was written.
        waits: how often it has been put off.
    """

    chat_id: str
    text: str
    thread_id: str | None = None
    is_plain: bool = False
    waits: int = 0


class NotTaken(DependencyError):
    """A chat service did not take a message, or not for sure.

    Attributes:
        instead: the forms in which it can be sent at once; empty when its form is not the trouble.
        may_pass: whether the same may be taken later.
        is_unsure: whether it may have arrived.
        retry_after_s: how long the service wants to be left alone, seconds; None when it did not say.
    """

    code = "channel_message_not_taken"

    def __init__(
        self,
        reason: str,
        *,
        instead: Sequence[Draft] = (),
        may_pass: bool = True,
        is_unsure: bool = False,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.instead = instead
        self.may_pass = may_pass
        self.is_unsure = is_unsure
        self.retry_after_s = retry_after_s


Post = Callable[[Draft], Awaitable[str]]
"""Hands a message over and returns the chat service's id of it, or raises ``NotTaken``."""


async def send_until_taken(draft: Draft, post: Post, timers: Timers) -> str | None:
    """Send a message, as several when it has to be; returns the first one's id.

    Raises:
        DeliveryFailed: not all of it could be sent.
    """
    waiting = deque([draft])
    first_id = None
    while waiting:
        draft = waiting.popleft()
        try:
            sent_id = await post(draft)
            first_id = first_id or sent_id
        except NotTaken as refused:
            waiting.extendleft(reversed(await _instead(draft, refused, timers)))
    return first_id


def halves(draft: Draft) -> Sequence[Draft]:
    """A message in shorter ones; empty when it is as short as can be."""
    longest = max(MIN_UNITS, utf16_units(draft.text) // 2)
    texts = split_markdown(draft.text, max_units=longest, count_units=utf16_units)
    return tuple(replace(draft, text=text) for text in texts) if texts != [draft.text] else ()


async def _instead(draft: Draft, refused: NotTaken, timers: Timers) -> Sequence[Draft]:
    """What to send now that a message was not taken; waits first, where that helps.

    Raises:
        DeliveryFailed: nothing would help.
    """
    if refused.instead:
        _log.info("channel_message_changed", reason=str(refused), parts=len(refused.instead))
        return refused.instead
    wait_ms = round((refused.retry_after_s or 0) * 1000) or FIRST_WAIT_MS << draft.waits
    if not refused.may_pass or draft.waits >= MAX_WAITS or wait_ms > LONGEST_WAIT_MS:
        raise DeliveryFailed(str(refused), retry_after_s=refused.retry_after_s)
    await pause(wait_ms, timers)
    return (_repeated(draft, refused),)


def _repeated(draft: Draft, refused: NotTaken) -> Draft:
    """A message for another try; it says so when the one before may have arrived."""
    again = replace(draft, waits=draft.waits + 1)
    if not refused.is_unsure or draft.text.startswith(REPEAT_NOTE):
        return again
    return replace(again, text=f"{REPEAT_NOTE}\n\n{draft.text}")
