"""The memory lane of a channel's workspace, and what memory tells the agent of a chat."""

from dataclasses import dataclass
from typing import Literal, Protocol

from channels.envelope import Target

MemoryKind = Literal["remember", "forget", "dream", "undo"]
MemoryOutcome = Literal["completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """Something that a person asks of memory.

    Attributes:
        text: what to remember, what to forget, or the revision to undo; empty for a dream.
        key: the same key is the same request.
    """

    kind: MemoryKind
    text: str
    key: str
    target: Target


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """How a request ended.

    Attributes:
        summary: for people, one line or more.
        revision: what was committed, which can be undone; None when nothing changed.
    """

    outcome: MemoryOutcome
    summary: str
    revision: str | None = None


class MemoryLane(Protocol):
    """Has memory changed, one request after the other, as everybody else's are."""

    async def ask(self, request: MemoryRequest) -> MemoryReport:
        """Submit a request and wait for its end.

        Raises:
            InputError, StateError: it was not accepted; the message is for people.
            DependencyError: whether it was accepted is unknown; ask again with the same key.
        """
        ...


class ChatMemory(Protocol):
    """What is remembered, as text for the agent's first turn."""

    async def read(self, target: Target) -> str:
        """The memory of a chat; empty when there is none.

        Raises:
            MemlaneError: it could not be read.
        """
        ...
