"""Sends messages to a chat service, each noted before and after."""

from collections.abc import Sequence
from typing import Protocol

from channels.envelope import Envelope, Target
from channels.errors import DeliveryFailed
from channels.outbox import OutboundPart, Outbox
from core.ids import new_uuid
from core.logs import get_logger

REPEAT_NOTE = "(This may be a repeat: sending it was interrupted.)"

_log = get_logger(__name__)


class ChatService(Protocol):
    """How an adapter sends."""

    def split_message(self, text: str) -> Sequence[str]:
        """Cut a message into such as the chat service takes."""
        ...

    async def send_message(
        self, chat_id: str, text: str, *, thread_id: str | None = None, delivery_id: str | None = None
    ) -> str | None:
        """Send one message and return the chat service's id of it.

        Raises:
            DeliveryFailed: it was not sent.
        """
        ...


class Deliverer:
    """Sends answers and replies so that a crash loses none of them."""

    def __init__(self, service: ChatService, outbox: Outbox) -> None:
        self._service = service
        self._outbox = outbox
        self._replies: dict[str, int] = {}

    async def deliver(self, target: Target, text: str, *, key: str, turn_id: str | None = None) -> None:
        """Send a message, in as many parts as it takes, in their order.

        Args:
            key: the same key is the same message: parts that were sent before are not sent again.

        Raises:
            DeliveryFailed: a part could not be sent; neither were those after it, and none will be.
        """
        texts = self._service.split_message(text)
        parts = [OutboundPart(f"{key}:{n}", target, part, turn_id) for n, part in enumerate(texts)]
        await self._outbox.add(parts)
        for n, part in enumerate(parts):
            try:
                await self.send(part)
            except DeliveryFailed:
                await self._outbox.give_up([later.key for later in parts[n:]])
                raise

    async def send(self, part: OutboundPart) -> None:
        """Send one part, unless it was sent before; one that may have been says so.

        Raises:
            DeliveryFailed: the chat service did not take it.
        """
        before = await self._outbox.mark_sending(part.key)
        if before == "sent":
            return
        text = part.text if before == "waiting" else f"{REPEAT_NOTE}\n\n{part.text}"
        target = part.target
        provider_id = await self._service.send_message(
            target.chat_id, text, thread_id=target.thread_id, delivery_id=part.key
        )
        await self._outbox.mark_sent(part.key, provider_id)

    async def reply(self, envelope: Envelope, text: str, *, name: str | None = None) -> None:
        """Say something beside turns. What can't be sent is told in the log only.

        A message that is handled a second time gets no second reply of the same name or number.

        Args:
            name: of what is not said each time that the message is handled; None has it counted.
        """
        message = envelope.receipts[0] if envelope.receipts else new_uuid()
        if name is None:
            self._replies[message] = self._replies.get(message, 0) + 1
        try:
            key = f"reply:{message}:{name or self._replies[message]}"
            await self.deliver(envelope.target, text, key=key)
        except DeliveryFailed as error:
            _log.warning("channel_reply_not_sent", channel=envelope.channel_name, reason=str(error))

    def forget(self, receipts: Sequence[str]) -> None:
        """Count the replies to messages no more: they are done with."""
        for receipt in receipts:
            self._replies.pop(receipt, None)
