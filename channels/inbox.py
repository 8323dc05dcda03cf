"""Messages on their way in: stored before the chat service is told that they arrived."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from channels.envelope import Envelope

PutMessage = Callable[[Envelope, Sequence[str]], bool]
"""``Inbox.put`` for who has no event loop."""


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message as it was taken in.

    Attributes:
        receipt: names it until it is settled, see ``TurnLedger``.
    """

    receipt: str
    envelope: Envelope


class Inbox(Protocol):
    """One channel's messages, in the order in which they came."""

    async def put(self, envelope: Envelope, *, keys: Sequence[str]) -> bool:
        """Store a message.

        Args:
            keys: by each of which the message is known again, at least one: the chat service's ids.

        Returns:
            False when one of the keys is known: it is a repeat, and nothing was stored.

        Raises:
            DependencyError: it may or may not be stored. Don't tell the chat service that it arrived; the
                repeat will be known.
        """
        ...

    async def take(self) -> Sequence[StoredMessage]:
        """Wait for messages that were not handed out since the start, the oldest first.

        At first those that an earlier process took and did not settle.
        """
        ...
