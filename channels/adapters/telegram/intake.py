"""Takes updates into the inbox."""

from collections.abc import Callable, Sequence

from telegram import Bot, Update

from channels.adapters.telegram.envelopes import Arrival, arrival_of
from channels.adapters.telegram.files import Fetched, Files
from channels.config import ChannelConfig
from channels.envelope import Envelope
from channels.gating import Pairing, group_verdict, is_let_in
from channels.inbox import Inbox

LEFT_OUT = "[Left out of this message: {complaint}]"

Complain = Callable[[Envelope, str], None]
"""Tells the sender of a message what became of it; does not wait for that."""


class Intake:
    """Stores what people write to one bot; what comes with it is fetched first, for who is let in."""

    def __init__(
        self, config: ChannelConfig, bot: Bot, *, inbox: Inbox, files: Files, pairing: Pairing
    ) -> None:
        self._config = config
        self._bot = bot
        self._inbox = inbox
        self._files = files
        self._pairing = pairing

    async def take(self, updates: Sequence[Update], complain: Complain) -> None:
        """Store a message, or an album as one; a repeat, and what is for nobody, is passed over.

        Raises:
            MemlaneError: it may not have been stored; the same updates may be taken again.
        """
        messages = [(update.update_id, update.message) for update in updates]
        arrival = arrival_of(messages, channel=self._config.name, bot=self._bot.bot)
        if arrival is None:
            return
        fetched = await self._fetched(arrival)
        envelope = with_files(arrival.envelope, fetched)
        is_nothing = fetched.complaints and not (arrival.envelope.text or fetched.attachments)
        if is_nothing or await self._inbox.put(envelope, keys=arrival.keys):
            for complaint in fetched.complaints:
                complain(arrival.envelope, complaint)

    async def _fetched(self, arrival: Arrival) -> Fetched:
        envelope = arrival.envelope
        is_for_us = group_verdict(self._config, envelope) == "pass"
        if not is_for_us or not is_let_in(self._config, envelope, self._pairing):
            return Fetched()
        name = f"{envelope.chat_id}-{envelope.message_id}"
        return await self._files.fetch(arrival.media, message=name)


def with_files(envelope: Envelope, fetched: Fetched) -> Envelope:
    """The message with what came with it; the agent is told of what was left out."""
    lines = [LEFT_OUT.format(complaint=one) for one in fetched.complaints]
    text = "\n\n".join(part for part in (envelope.text, "\n".join(lines)) if part)
    return envelope.model_copy(update={"text": text, "attachments": fetched.attachments})
