"""Brings a turn's answer into its chat, whole or block by block."""

from channels.streamer import BlockStreamer
from channels.turn import Turn
from channels.workings import Workings


class TurnOutput:
    """Delivers answers."""

    def __init__(self, workings: Workings) -> None:
        self._workings = workings

    def streamer(self, turn: Turn) -> BlockStreamer | None:
        """What sends the answer in blocks; None where answers are sent whole."""
        limits = self._workings.config.block_streaming
        if limits is None:
            return None
        numbers = iter(range(1_000_000))

        async def send(block: str) -> None:
            key = f"{turn.id}:block{next(numbers)}"
            await self._workings.deliverer.deliver(turn.envelope.target, block, key=key, turn_id=turn.id)

        return BlockStreamer(limits, send=send, timers=self._workings.parts.timers)

    async def deliver(self, turn: Turn, answer: str) -> None:
        """Deliver an answer, unless it is empty or was called off: from here on it can't be.

        Raises:
            DeliveryFailed: not all of it could be sent.
        """
        if turn.is_cancelled or not answer.strip():
            return
        turn.is_delivering = True
        await self._workings.parts.ledger.start_delivery(turn.id)
        if turn.streamer is not None and turn.streamer.has_text:
            await turn.streamer.flush()
            return
        envelope = turn.envelope
        delivered = self._workings.hooks.on_response_complete(envelope.chat_id, answer, turn.session_id)
        if delivered is not None:
            await delivered
