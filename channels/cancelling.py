"""Calling off a turn: by command, by a newer message, with its session, or because its time is up."""

import asyncio
from collections.abc import Callable
from typing import Any

from channels.lifecycle import CancelReason
from channels.timers import settled_within
from channels.turn import Turn
from channels.workings import Workings
from core.errors import MemlaneError
from core.logs import get_logger

SETTLE_LIMIT_MS = 3_000
TIMEOUT_GRACE_MS = 5_000
CANCELLED_LIMIT_MS = 30_000

_log = get_logger(__name__)


class Canceller:
    """Decides which of cancellation and answer comes first; design page "Channel layer", 4.4."""

    def __init__(self, workings: Workings, *, on_overdue: Callable[[Turn], None]) -> None:
        """Bind the parts.

        Args:
            on_overdue: is told when a turn's time is up.
        """
        self._workings = workings
        self._on_overdue = on_overdue
        self._observer = workings.observer
        self._timers = workings.parts.timers

    def give_time(self, turn: Turn, limit_ms: int) -> None:
        """Let a turn take so long from now on; one that is cancelled meanwhile gets half a minute to end.

        Behind an agent that heeds no cancellation a message would wait as long as for an answer otherwise.
        """
        turn.disarm()
        turn.disarm = self._timers.call_later(limit_ms, lambda: self._on_overdue(turn))

    async def by_command(self, turn: Turn) -> bool:
        """Cancel a turn if the agent can be told in time.

        Returns:
            False when its answer came first, or the agent could not be told.
        """
        if turn.is_delivering or turn.has_ended:
            return turn.is_cancelled
        turn.cancel_pending = not turn.is_cancelled
        request = self._ask(turn, "cancel_command")
        deciding: set[asyncio.Future[Any]] = {request, turn.done}
        await asyncio.wait(deciding, return_when=asyncio.FIRST_COMPLETED)
        if not request.done():
            return turn.is_cancelled
        if request.result():
            self._drop_what_it_collects(turn)
        return request.result()

    def at_once(self, turn: Turn, reason: CancelReason) -> None:
        """Cancel a turn without waiting for the agent, which is told once."""
        if turn.is_cancelled or turn.has_ended:
            return
        turn.is_cancelled = True
        self._silence(turn)
        self._ask(turn, reason)
        self._tell(turn, reason)

    async def by_timeout(self, turn: Turn) -> bool:
        """Cancel a turn whose time is up, after the agent was told or a grace.

        Returns:
            False when its answer came meanwhile.
        """
        if turn.is_delivering or turn.has_ended:
            return False
        turn.cancel_pending = not turn.is_cancelled
        await settled_within(self._ask(turn, "timeout"), TIMEOUT_GRACE_MS, self._timers)
        if turn.is_delivering or turn.has_ended:
            return False
        self._mark(turn, "timeout")
        return True

    async def settle(self, turn: Turn) -> None:
        """Before a turn's outcome: wait for a verdict that is pending, but not long; a late one loses."""
        if turn.cancel_request is not None and not turn.is_cancelled:
            await settled_within(turn.cancel_request, SETTLE_LIMIT_MS, self._timers)

    def _ask(self, turn: Turn, reason: CancelReason) -> "asyncio.Task[bool]":
        """Have the agent told, joining a request that is under way."""
        if turn.cancel_request is None:
            turn.cancel_request = asyncio.create_task(self._request(turn, reason))
        return turn.cancel_request

    async def _request(self, turn: Turn, reason: CancelReason) -> bool:
        is_told = await self._is_told(turn)
        turn.cancel_pending = False
        if not is_told:
            turn.cancel_request = None
            if not turn.is_cancelled:
                self._observer.release_held(turn)
            return False
        if turn.is_delivering or (turn.has_ended and not turn.is_cancelled):
            return False
        self._mark(turn, reason)
        return True

    async def _is_told(self, turn: Turn) -> bool:
        try:
            bridge = turn.bridge or self._workings.bridge()
            await bridge.cancel_session(turn.session_id)
        except MemlaneError as error:
            _log.warning(f"cancelSession failed for session={turn.session_id}", reason=str(error))
            return False
        return True

    def _mark(self, turn: Turn, reason: CancelReason) -> None:
        turn.is_cancelled = True
        turn.cancel_pending = False
        self._silence(turn)
        if reason == "cancel_command":
            self._drop_what_it_collects(turn)
        self._tell(turn, reason)

    def _tell(self, turn: Turn, reason: CancelReason) -> None:
        if turn.cancel_reason is None:
            self.give_time(turn, CANCELLED_LIMIT_MS)
        self._observer.cancelled(turn, reason)

    def _drop_what_it_collects(self, turn: Turn) -> None:
        if self._workings.lines.active_turn(turn.session_id) is turn:
            self._workings.drop_buffer(turn.session_id)

    @staticmethod
    def _silence(turn: Turn) -> None:
        turn.held.clear()
        if turn.streamer is not None:
            turn.streamer.stop()
