"""Notes that messages are done with."""

from collections.abc import Sequence

from channels.ledger import Settlement, TurnLedger
from channels.lifecycle import TerminalType
from channels.turn import Turn
from channels.under_way import UnderWay


class Settler:
    """Settles messages, at once or beside other things."""

    def __init__(self, ledger: TurnLedger) -> None:
        self._ledger = ledger
        self._under_way = UnderWay()

    async def settle(self, receipts: Sequence[str], settlement: Settlement) -> None:
        """Note what became of messages that were stored; fine when there are none."""
        if receipts:
            await self._ledger.settle(receipts, settlement)

    def settle_soon(self, receipts: Sequence[str], settlement: Settlement) -> None:
        """Settle without waiting for it."""
        self._under_way.begin(self.settle(receipts, settlement))

    async def end(self, turn: Turn, terminal: TerminalType, *, reason: str | None = None) -> None:
        """Note a turn's outcome, and with it what became of its messages."""
        await self._ledger.end(turn.record, terminal, reason=reason)

    async def finish(self, *, limit_s: float) -> None:
        """Wait for what was to be settled soon; what is not by then is handed out once more."""
        await self._under_way.wind_up(limit_s=limit_s)
