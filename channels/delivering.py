"""Sends messages to a chat service, each noted before and after."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from channels.envelope import Envelope, Target
from channels.errors import DeliveryFailed
from channels.outbox import OutboundPart, Outbox
from core.ids import new_uuid
from core.logs import get_logger
from core.text import encodable

MAX_COUNTED = 10_000
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

    async def deliver(self, target: Target, text: str, *, key: str) -> None:
        """Send a message, in as many parts as it takes, in their order.

        Args:
            key: the same key is the same message: parts that were sent before are not sent again.

        Raises:
            DeliveryFailed: a part could not be sent; neither were those after it, and none will be.
        """
        parts = self.cut(target, text, key=key)
        await self.store(parts)
        await self.send_all(parts)

    def cut(
        self, target: Target, text: str, *, key: str, turn_id: str | None = None
    ) -> Sequence[OutboundPart]:
        """The parts of a message, as the chat service takes them."""
        texts = self._service.split_message(encodable(text))
        return [OutboundPart(f"{key}:{n}", target, part, turn_id) for n, part in enumerate(texts)]

    async def store(self, parts: Sequence[OutboundPart]) -> None:
        """Have parts outlive the process until they are sent."""
        await self._outbox.add(parts)

    async def send_all(
        self, parts: Sequence[OutboundPart], *, is_wanted: Callable[[], bool] = lambda: True
    ) -> None:
        """Send parts that were stored, in their order; what is not wanted any more by then is given up.

        Raises:
            DeliveryFailed: as ``deliver``.
        """
        left = deque(parts)
        try:
            while left and is_wanted():
                await self.send(left[0])
                left.popleft()
        except DeliveryFailed:
            await self._give_up(left)
            raise
        await self._give_up(left)

    async def send(self, part: OutboundPart) -> None:
        """Send one part, unless it was sent before; one that may have been says so.

        Raises:
            DeliveryFailed: the chat service did not take it.
        """
        before = await self._outbox.mark_sending(part.key)
        if before == "sent":
            return
        text = part.text if before == "waiting" else f"{REPEAT_NOTE}\n\n{part.text}"
        provider_id = await self._hand_over(part, text)
        await self._outbox.mark_sent(part.key, provider_id)

    async def _hand_over(self, part: OutboundPart, text: str) -> str | None:
        target = part.target
        try:
            return await self._service.send_message(
                target.chat_id, text, thread_id=target.thread_id, delivery_id=part.key
            )
        except DeliveryFailed:
            raise
        except Exception as error:
            # kept in the outbox it would be sent at each start, and nothing after it
            _log.exception("channel_adapter_fault", channel=target.channel_name)
            raise DeliveryFailed("the adapter has a fault, see the log") from error

    async def reply(self, envelope: Envelope, text: str, *, name: str | None = None) -> None:
        """Say something beside turns. What can't be sent is told in the log only.

        A message that is handled a second time gets no second reply of the same name or number.

        Args:
            name: of what is not said each time that the message is handled; None has it counted.
        """
        message = envelope.receipts[0] if envelope.receipts else new_uuid()
        key = f"reply:{message}:{name or self._count(message)}"
        try:
            await self.deliver(envelope.target, text, key=key)
        except DeliveryFailed as error:
            _log.warning("channel_reply_not_sent", channel=envelope.channel_name, reason=str(error))

    def _count(self, message: str) -> int:
        """The number of a message's next reply."""
        number = self._replies.pop(message, 0) + 1
        self._replies[message] = number
        if len(self._replies) > MAX_COUNTED:
            del self._replies[next(iter(self._replies))]
        return number

    async def _give_up(self, parts: Sequence[OutboundPart]) -> None:
        if parts:
            await self._outbox.give_up([part.key for part in parts])
