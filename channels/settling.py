"""Notes that messages are done with."""

import asyncio
from collections.abc import Sequence

from channels.ledger import Settlement, TurnLedger
from channels.lifecycle import TerminalType
from channels.timers import wind_up
from channels.turn import Turn


class Settler:
    """Settles messages, at once or beside other things."""

    def __init__(self, ledger: TurnLedger) -> None:
        self._ledger = ledger
        self._under_way: set[asyncio.Task[None]] = set()

    async def settle(self, receipts: Sequence[str], settlement: Settlement) -> None:
        """Note what became of messages that were stored; fine when there are none."""
        if receipts:
            await self._ledger.settle(receipts, settlement)

    def settle_soon(self, receipts: Sequence[str], settlement: Settlement) -> None:
        """Settle without waiting for it."""
        task = asyncio.create_task(self.settle(receipts, settlement))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def end(self, turn: Turn, terminal: TerminalType, *, reason: str | None = None) -> None:
        """Note a turn's outcome, and with it what became of its messages."""
        await self._ledger.end(turn.record, terminal, reason=reason)

    async def finish(self, *, limit_s: float) -> None:
        """Wait for what was to be settled soon; what is not by then is handed out once more."""
        await wind_up(self._under_way, limit_s=limit_s)
