"""Sends messages to Slack, in as many parts as Slack needs."""

from collections.abc import Sequence
from dataclasses import replace

from channels.adapters.slack.api import SlackApi
from channels.adapters.slack.mrkdwn import to_mrkdwn
from channels.adapters.slack.refusals import SlackRefused
from channels.drafts import Draft, NotTaken, halves, send_until_taken
from channels.splitting import utf16_units
from channels.timers import Timers

MAX_UNITS = 4_000

_TOO_LONG = "msg_too_long"
_NO_THREAD = (
    *("thread_not_found", "message_not_found", "cannot_reply_to_message"),
    "restricted_action_non_threadable_channel",
)


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
        return await send_until_taken(Draft(chat_id, text, thread_id), self._post, self._timers)

    async def _post(self, draft: Draft) -> str:
        try:
            return await self._hand_over(draft)
        except SlackRefused as refused:
            raise not_taken(draft, refused) from None

    async def _hand_over(self, draft: Draft) -> str:
        text = to_mrkdwn(draft.text)
        if utf16_units(text) > MAX_UNITS:  # Slack would cut it where it likes
            raise SlackRefused(_TOO_LONG, may_pass=False)
        return await self._api.post(draft.chat_id, text, thread_id=draft.thread_id)


def not_taken(draft: Draft, refused: SlackRefused) -> NotTaken:
    """What a refusal means for a message."""
    return NotTaken(
        str(refused),
        instead=other_form(draft, refused),
        may_pass=refused.may_pass,
        is_unsure=refused.is_unsure,
        retry_after_s=refused.retry_after_s,
    )


def other_form(draft: Draft, refused: SlackRefused) -> Sequence[Draft]:
    """The forms in which a refused message can be sent at once; empty when its form is not the trouble."""
    if refused.reason == _TOO_LONG:
        return halves(draft)
    if refused.reason in _NO_THREAD and draft.thread_id is not None:
        return (replace(draft, thread_id=None),)
    return ()
