"""Brings a turn's answer into its chat, whole or block by block."""

from collections.abc import Sequence

from channels.outbox import OutboundPart
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
        deliverer = self._workings.deliverer

        async def send(block: str) -> None:
            parts = self._cut(turn, block)
            await deliverer.store(parts)
            await deliverer.send_all(parts, is_wanted=lambda: not turn.is_cancelled)

        return BlockStreamer(limits, send=send, timers=self._workings.parts.timers)

    async def deliver(self, turn: Turn, answer: str) -> None:
        """Deliver an answer, unless it is empty or was called off: from here on it can't be.

        Raises:
            DeliveryFailed: not all of it could be sent.
        """
        if turn.is_cancelled or not answer.strip():
            return
        turn.is_delivering = True
        if turn.streamer is not None and turn.streamer.has_text:
            await self.send(turn, await turn.streamer.remaining())
            return
        envelope = turn.envelope
        delivered = self._workings.hooks.on_response_complete(envelope.chat_id, answer, turn.session_id)
        if delivered is not None:
            await delivered

    async def send(self, turn: Turn, texts: Sequence[str]) -> None:
        """Send an answer, or what is left of it; parts that were not begun when its session ends are not.

        All of it is stored before it is noted as on its way: where a crash leaves that note, nothing of
        the answer is missing.

        Raises:
            DeliveryFailed: not all of it could be sent.
        """
        works = self._workings
        parts = [part for text in texts for part in self._cut(turn, text)]
        await works.deliverer.store(parts)
        await works.parts.ledger.start_delivery(turn.id)
        await works.deliverer.send_all(parts, is_wanted=lambda: not turn.is_cancelled)

    def _cut(self, turn: Turn, text: str) -> Sequence[OutboundPart]:
        key = f"{turn.id}:{next(turn.numbers)}"
        return self._workings.deliverer.cut(turn.envelope.target, text, key=key, turn_id=turn.id)
