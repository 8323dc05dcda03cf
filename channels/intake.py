"""Takes messages into the inbox, with what comes with them."""

from collections.abc import Callable, Coroutine
from typing import Any

from channels.arrivals import Arrival
from channels.config import ChannelConfig
from channels.envelope import Envelope
from channels.files import Fetched, Files
from channels.gating import Pairing, group_verdict, is_let_in
from channels.inbox import Inbox
from channels.under_way import UnderWay

LEFT_OUT = "[Left out of this message: {complaint}]"

Reply = Callable[[Envelope, str], Coroutine[Any, Any, None]]
"""Says something to a message."""


class Intake:
    """Stores what people write to one bot; what comes with it is fetched first, for who is let in."""

    def __init__(
        self, config: ChannelConfig, inbox: Inbox, *, files: Files, pairing: Pairing, reply: Reply
    ) -> None:
        """Bind the parts.

        Args:
            reply: tells a sender of what was left out; nobody waits for it.
        """
        self._config = config
        self._inbox = inbox
        self._files = files
        self._pairing = pairing
        self._reply = reply
        self._complaints = UnderWay()

    async def take(self, arrival: Arrival) -> None:
        """Store a message; a repeat is passed over.

        Raises:
            MemlaneError: it may not have been stored; the same message may be taken again.
        """
        fetched = await self._fetched(arrival)
        envelope = with_files(arrival.envelope, fetched)
        is_nothing = fetched.complaints and not (arrival.envelope.text or fetched.attachments)
        if is_nothing or await self._inbox.put(envelope, keys=arrival.keys):
            for complaint in fetched.complaints:
                self._complaints.begin(self._reply(arrival.envelope, complaint))

    async def close(self) -> None:
        """Say no more; what was not said yet is not."""
        await self._complaints.wind_up(limit_s=0)

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
