"""What a channel does first: finish what an earlier process of it began."""

import asyncio
from collections.abc import Iterable, Sequence

from channels import replies
from channels.envelope import Envelope
from channels.errors import DeliveryFailed
from channels.ledger import TurnRecord, UnfinishedTurn
from channels.outbox import OutboundPart
from channels.turn import Turn
from channels.under_way import UnderWay
from channels.workings import Workings
from core.logs import get_logger

_log = get_logger(__name__)


class Recovery:
    """Finishes what an earlier process began, each chat by itself; new messages of a chat wait for that."""

    def __init__(self, workings: Workings) -> None:
        self._works = workings
        self._gates: dict[str, asyncio.Lock] = {}
        self._begun: frozenset[str] = frozenset()
        self._under_way = UnderWay()

    async def begin(self) -> None:
        """Send what was on its way, and end the turns that were cut off; each turn ends once.

        Returns when it is known what that is. What is not done when this is closed is done at the next start.
        """
        outbox = self._works.parts.outbox
        unsent = await outbox.unsent()
        unfinished = await self._works.parts.ledger.unfinished()
        begun = {turn.record.turn_id for turn in unfinished}
        ended = [part.key for part in unsent if part.turn_id is not None and part.turn_id not in begun]
        await outbox.give_up(ended)
        self._begun = frozenset(receipt for turn in unfinished for receipt in turn.record.receipts)
        loose = [part for part in unsent if part.turn_id is None]
        targets = [*(turn.record.target for turn in unfinished), *(part.target for part in loose)]
        for chat_id in dict.fromkeys(target.chat_id for target in targets):
            self._gates[chat_id] = asyncio.Lock()
            self._under_way.begin(self._go_on(chat_id, unfinished, unsent))

    async def lets_in(self, envelope: Envelope) -> bool:
        """Wait until the chat of a message has nothing left to be finished; who waits goes on in order.

        Returns:
            False for a message of a turn that an earlier process began, which has ended by that.
        """
        gate = self._gates.get(envelope.chat_id)
        if gate is not None:
            async with gate:
                pass
        return self._begun.isdisjoint(envelope.receipts)

    async def close(self) -> None:
        """Give up what is not finished."""
        await self._under_way.wind_up(limit_s=0)

    async def _go_on(
        self, chat_id: str, unfinished: Iterable[UnfinishedTurn], unsent: Iterable[OutboundPart]
    ) -> None:
        here = [part for part in unsent if part.target.chat_id == chat_id]
        async with self._gates[chat_id]:
            for turn in unfinished:
                if turn.record.target.chat_id == chat_id:
                    parts = [part for part in here if part.turn_id == turn.record.turn_id]
                    await _finish(self._works, turn, parts)
            await _send(self._works, [part for part in here if part.turn_id is None])


async def _finish(works: Workings, turn: UnfinishedTurn, parts: Sequence[OutboundPart]) -> None:
    ledger, record = works.parts.ledger, turn.record
    shown = _shown(record)
    if turn.is_delivering:
        if await _send(works, parts):
            await ledger.end(record, "completed")
            works.observer.completed(shown)
        else:
            await ledger.end(record, "failed", reason="delivery")
            works.observer.failed(shown, "the answer could not be sent", "delivery")
        return
    await works.parts.outbox.give_up([part.key for part in parts])
    notice = f"interrupted:{record.turn_id}"
    try:
        await works.deliverer.deliver(record.target, replies.INTERRUPTED, key=notice)
    except DeliveryFailed as error:
        _log.warning("channel_reply_not_sent", channel=works.config.name, reason=str(error))
    await ledger.end(record, "failed", reason="agent")
    works.observer.failed(shown, "the service was restarted", "agent")


def _shown(record: TurnRecord) -> Turn:
    """The turn as observers are told of it."""
    target = record.target
    envelope = Envelope(
        channel_name=target.channel_name,
        sender_id=target.sender_id,
        sender_name="",
        chat_id=target.chat_id,
        text="",
        thread_id=target.thread_id,
        message_id=record.message_id,
    )
    return Turn(record.turn_id, record.session_id, envelope, generation=record.generation)


async def _send(works: Workings, parts: Sequence[OutboundPart]) -> bool:
    """Send parts of one chat in their order; what can't be sent is given up, with what follows it."""
    try:
        await works.deliverer.send_all(parts)
    except DeliveryFailed as error:
        _log.warning("channel_message_given_up", channel=works.config.name, reason=str(error))
        return False
    return True
