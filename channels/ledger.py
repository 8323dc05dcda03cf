"""What outlives a crash of a channel: turns, and messages that were taken in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from channels.envelope import Target
from channels.lifecycle import TerminalType

Settlement = Literal["answered", "failed", "cancelled", "dropped", "local"]
"""What became of a message: a turn's end; never a turn; answered without the agent."""


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn as it is stored.

    Attributes:
        receipts: the stored messages that it answers.
        generation: of the session, when it was asked for.
    """

    turn_id: str
    session_id: str
    target: Target
    message_id: str | None
    receipts: tuple[str, ...]
    generation: int


@dataclass(frozen=True, slots=True)
class UnfinishedTurn:
    """A turn that a process began and did not end.

    Attributes:
        is_delivering: whether its answer was on its way out.
    """

    record: TurnRecord
    is_delivering: bool


class TurnLedger(Protocol):
    """Stores how far turns are. Waits for its storage as long as it takes; loses nothing."""

    async def begin(self, turn: TurnRecord) -> None:
        """Note a turn before the agent is asked: after a crash it is not asked again."""
        ...

    async def start_delivery(self, turn_id: str) -> None:
        """Note that its answer is going out: after a crash what is left of it is sent."""
        ...

    async def end(self, turn: TurnRecord, terminal: TerminalType, *, reason: str | None = None) -> bool:
        """Note a turn's terminal event, once, and settle its messages.

        Args:
            reason: of a cancellation, or the phase of a failure.

        Returns:
            False when it had ended before; nothing changed then.
        """
        ...

    async def unfinished(self) -> Sequence[UnfinishedTurn]:
        """Turns that have begun and have no terminal event, the oldest first."""
        ...

    async def settle(self, receipts: Sequence[str], settlement: Settlement) -> None:
        """Note that messages are done with; never handed out again, a repeat of one is known as one."""
        ...
