"""One prompt of a session, from its start to its end, and what may still become of it."""

import asyncio
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from channels.envelope import Envelope
from channels.ledger import TurnRecord
from core.chat import PromptImage

if TYPE_CHECKING:
    from collections.abc import Callable

    from channels.bridge import AgentBridge
    from channels.lifecycle import CancelReason
    from channels.streamer import BlockStreamer


@dataclass(frozen=True, slots=True)
class Said:
    """What people said, without the context that the agent is told with it."""

    text: str = ""
    images: tuple[PromptImage, ...] = ()


NOTHING = Said()


def _nothing() -> None:
    """Before a turn has a time there is nothing to call off."""


class Turn:
    """A turn that runs. It is the session's active one from its start until its cleanup.

    Attributes:
        id: names it for ever.
        envelope: the message that it answers.
        generation: of the session when it was asked for.
        said: what people said, as the agent is asked it.
        has_asked: whether the agent was asked, or is now.
        is_carried: its words are told with a newer message, whose turn is done with its messages as well.
        is_cancelled: nothing of it may be told or delivered any more.
        cancel_pending: whether it is cancelled is being found out; what the agent writes is held meanwhile.
        cancel_request: whether the agent could be told to stop, shared by all who ask; None before anybody
            did, and again after it could not.
        cancel_reason: the first one, None while nobody cancelled it.
        is_delivering: the commit point is past: it can't be cancelled any more.
        has_accepted: the agent has begun to answer, so that it knows what it was told.
        has_ended: its outcome is decided.
        is_evicted: somebody gave up waiting for it and has told its end.
        bridge: the one that it was prompted through, None before.
        held: what the agent wrote while a cancellation was pending.
        disarm: calls off the look at whether its time is up.
        numbers: name the pieces of its answer, each one once.
        done: set after its cleanup.
        abandoned: set when nobody waits for the agent's answer any more.
    """

    def __init__(
        self, turn_id: str, session_id: str, envelope: Envelope, *, generation: int, said: Said = NOTHING
    ) -> None:
        self.id = turn_id
        self.session_id = session_id
        self.envelope = envelope
        self.generation = generation
        self.said = said
        self.has_asked = False
        self.is_carried = False
        self.is_cancelled = False
        self.cancel_pending = False
        self.cancel_request: asyncio.Task[bool] | None = None
        self.cancel_reason: CancelReason | None = None
        self.is_delivering = False
        self.has_accepted = False
        self.has_ended = False
        self.is_evicted = False
        self.bridge: AgentBridge | None = None
        self.streamer: BlockStreamer | None = None
        self.held: list[str] = []
        self.disarm: Callable[[], None] = _nothing
        self.numbers = count()
        loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = loop.create_future()
        self.abandoned: asyncio.Future[None] = loop.create_future()

    @property
    def is_observed(self) -> bool:
        """Whether what the agent does in it may be told now."""
        return not self.is_cancelled and not self.cancel_pending

    @property
    def is_committed(self) -> bool:
        """Whether it was not cancelled and can't be any more."""
        return (self.is_delivering or self.has_ended) and not self.is_cancelled

    @property
    def record(self) -> TurnRecord:
        """The turn as it is stored."""
        envelope = self.envelope
        return TurnRecord(
            turn_id=self.id,
            session_id=self.session_id,
            target=envelope.target,
            message_id=envelope.message_id,
            receipts=() if self.is_carried else envelope.receipts,
            generation=self.generation,
        )

    def abandon(self) -> None:
        """Wait for the agent no longer."""
        if not self.abandoned.done():
            self.abandoned.set_result(None)
