"""What waits in a session: turns one after the other, and messages that are collected meanwhile."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from channels.envelope import Envelope
from channels.turn import Turn
from core.chat import PromptImage

MAX_BUFFERED_MESSAGES = 20
MAX_BUFFERED_CHARACTERS = 4096


@dataclass(frozen=True, slots=True)
class Buffered:
    """A message that waits for the running turn's end, to be prompted with others.

    Attributes:
        text: as it would be prompted.
    """

    text: str
    envelope: Envelope
    images: tuple[PromptImage, ...] = ()


@dataclass(slots=True)
class SessionLine:
    """A session's turns. At most one is active.

    Attributes:
        generation: grows when what waits is not wanted any more.
        is_instructed: whether the agent was told the context, or the turn that runs tells it.
        disarm_steer_timer: calls off the look at whether a steered turn is still active.
    """

    session_id: str
    generation: int = 0
    active: Turn | None = None
    is_instructed: bool = False
    buffer: list[Buffered] = field(default_factory=list)
    disarm_steer_timer: Callable[[], None] | None = None
    _tail: "asyncio.Task[None] | None" = None
    _retirement: "asyncio.Future[None]" = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    @property
    def is_retired(self) -> bool:
        """Whether the session is of no use any more; what waits belongs into another one."""
        return self._retirement.done()

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs or waits."""
        return self.active is None and not self.buffer and (self._tail is None or self._tail.done())

    def enqueue(self, run: Callable[[], Coroutine[Any, Any, None]]) -> "asyncio.Task[None]":
        """Have something run after all that waits; an error of what was before changes nothing.

        Once the line is retired nothing waits any more: all that did goes on at once, in its order.
        """
        before = self._tail

        async def in_turn() -> None:
            if before is not None:
                await asyncio.wait({before, self._retirement}, return_when=asyncio.FIRST_COMPLETED)
            await run()

        self._tail = asyncio.create_task(in_turn())
        return self._tail

    def retire(self) -> None:
        """Use the session no more."""
        if not self._retirement.done():
            self._retirement.set_result(None)

    def has_room(self, text: str) -> bool:
        """Whether one more message can be collected; one always can, so that none is too long."""
        characters = sum(len(one.text) for one in self.buffer) + len(text)
        is_small = len(self.buffer) < MAX_BUFFERED_MESSAGES and characters <= MAX_BUFFERED_CHARACTERS
        return is_small or not self.buffer

    def take_buffer(self) -> list[Buffered]:
        """What was collected, which is forgotten here."""
        taken, self.buffer = self.buffer, []
        return taken

    def disarm(self) -> None:
        """Look no more after a steered turn."""
        if self.disarm_steer_timer is not None:
            self.disarm_steer_timer()
            self.disarm_steer_timer = None


class SessionLines:
    """The lines of all sessions; one that is idle and not routed to is dropped."""

    def __init__(self) -> None:
        self._by_id: dict[str, SessionLine] = {}

    def of(self, session_id: str) -> SessionLine:
        """The line of a session, made if need be."""
        return self._by_id.setdefault(session_id, SessionLine(session_id))

    def find(self, session_id: str) -> SessionLine | None:
        """The line of a session, if it ever had anything."""
        return self._by_id.get(session_id)

    def active_turn(self, session_id: str) -> Turn | None:
        """The turn that runs in a session."""
        line = self.find(session_id)
        return line.active if line is not None else None

    def forget_context(self) -> None:
        """Have every session told its context again."""
        for line in self._by_id.values():
            line.is_instructed = False

    def drop_if_idle(self, session_id: str) -> None:
        """Forget a session in which nothing runs or waits."""
        line = self.find(session_id)
        if line is not None and line.is_idle:
            del self._by_id[session_id]
