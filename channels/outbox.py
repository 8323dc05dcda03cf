"""Messages on their way out, so that each arrives although anybody may crash."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from channels.envelope import Target

PartState = Literal["waiting", "sending", "sent"]


@dataclass(frozen=True, slots=True)
class OutboundPart:
    """One message to a chat service.

    Attributes:
        key: names it for ever; the same key is the same message.
        turn_id: whose answer it is part of, None for what is said beside turns.
        state: ``sending`` after a crash means that it may have arrived.
    """

    key: str
    target: Target
    text: str
    turn_id: str | None = None
    state: PartState = "waiting"


class Outbox(Protocol):
    """Stores messages until they have been sent. Waits for its storage as long as it takes."""

    async def add(self, parts: Sequence[OutboundPart]) -> None:
        """Store messages in their order; what is known already stays as it is."""
        ...

    async def mark_sending(self, key: str) -> PartState:
        """Note that one is being handed over; returns its state before, ``sent`` for an unknown one too."""
        ...

    async def mark_sent(self, key: str, provider_id: str | None) -> None:
        """Note that the chat service took one, and as which message of its own."""
        ...

    async def give_up(self, keys: Sequence[str]) -> None:
        """Forget messages that can't be sent; they count as sent from now on."""
        ...

    async def unsent(self) -> Sequence[OutboundPart]:
        """What has not been sent for sure, the oldest first."""
        ...
