"""What a channel does first: finish what an earlier process of it began."""

from collections.abc import Iterable

from channels import replies
from channels.envelope import Envelope
from channels.errors import DeliveryFailed
from channels.ledger import TurnRecord, UnfinishedTurn
from channels.outbox import OutboundPart
from channels.turn import Turn
from channels.workings import Workings
from core.logs import get_logger

_log = get_logger(__name__)


async def recover(works: Workings) -> None:
    """Send what was on its way, and end the turns that were cut off; each turn ends once."""
    unsent = list(await works.parts.outbox.unsent())
    unfinished = await works.parts.ledger.unfinished()
    begun = {turn.record.turn_id for turn in unfinished}
    ended = [part.key for part in unsent if part.turn_id is not None and part.turn_id not in begun]
    await works.parts.outbox.give_up(ended)
    for turn in unfinished:
        parts = [part for part in unsent if part.turn_id == turn.record.turn_id]
        await _finish(works, turn, parts)
    await _send(works, [part for part in unsent if part.turn_id is None])


async def _finish(works: Workings, turn: UnfinishedTurn, parts: Iterable[OutboundPart]) -> None:
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


async def _send(works: Workings, parts: Iterable[OutboundPart]) -> bool:
    """Send parts in their order; what can't be sent is given up, with what follows it in its chat."""
    given_up: set[str] = set()
    for part in parts:
        try:
            if part.target.chat_id not in given_up:
                await works.deliverer.send(part)
                continue
        except DeliveryFailed as error:
            _log.warning("channel_message_given_up", channel=works.config.name, reason=str(error))
            given_up.add(part.target.chat_id)
        await works.parts.outbox.give_up([part.key])
    return not given_up
