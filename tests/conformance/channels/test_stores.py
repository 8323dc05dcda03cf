"""What every store of a channel promises, whether it outlives its process or not."""

from channels.envelope import Attachment, Envelope, Target
from channels.ledger import TurnRecord, UnfinishedTurn
from channels.outbox import OutboundPart
from channels.routes import Route

TARGET = Target(channel_name="chat", sender_id="u1", chat_id="c1", thread_id="t1")
TURN = TurnRecord("turn-1", "s1", TARGET, "m1", ("r1",), 3)


def message(text, **facts):
    return Envelope(channel_name="chat", sender_id="u1", sender_name="Ann", chat_id="c1", text=text, **facts)


async def test_a_turn_is_unfinished_from_its_beginning_to_its_one_end(stores):
    await stores.ledger.begin(TURN)
    await stores.ledger.begin(TURN)
    assert await stores.ledger.unfinished() == (UnfinishedTurn(TURN, is_delivering=False),)
    await stores.ledger.start_delivery("turn-1")
    assert await stores.ledger.unfinished() == (UnfinishedTurn(TURN, is_delivering=True),)

    assert await stores.ledger.end(TURN, "completed")
    assert not await stores.ledger.end(TURN, "failed", reason="agent")
    assert await stores.ledger.unfinished() == ()


async def test_a_part_is_unsent_until_it_was_taken_or_given_up(stores):
    parts = [OutboundPart("k1", TARGET, "one", "turn-1"), OutboundPart("k2", TARGET, "two")]
    await stores.outbox.add(parts)
    assert await stores.outbox.unsent() == tuple(parts)
    assert await stores.outbox.mark_sending("k1") == "waiting"
    assert await stores.outbox.mark_sending("k1") == "sending"
    await stores.outbox.mark_sent("k1", "provider-7")
    assert await stores.outbox.mark_sending("k1") == "sent"
    await stores.outbox.give_up(["k2"])

    assert await stores.outbox.unsent() == ()


async def test_what_was_sent_is_not_sent_again_when_it_is_added_again(stores):
    part = OutboundPart("k1", TARGET, "one")
    await stores.outbox.add([part])
    await stores.outbox.mark_sending("k1")
    await stores.outbox.mark_sent("k1", None)
    await stores.outbox.add([part])

    assert await stores.outbox.mark_sending("k1") == "sent"
    assert await stores.outbox.unsent() == ()


async def test_messages_come_out_as_they_went_in_with_a_receipt(stores):
    picture = Attachment(type="image", mime_type="image/png", data="aGk=")
    first = message("one 𝄞", is_group=True, thread_id="t", attachments=(picture,))
    assert await stores.inbox.put(first, keys=["a"])
    taken = (await stores.inbox.take())[0]

    assert taken.envelope.receipts == (taken.receipt,)
    assert taken.envelope.model_copy(update={"receipts": ()}) == first


async def test_a_message_is_known_again_by_any_key(stores):
    assert await stores.inbox.put(message("one"), keys=["a", "b"])

    assert not await stores.inbox.put(message("one"), keys=["c", "b"])


async def test_routes_come_back_as_they_were_saved(stores):
    routes = {
        ("chat", "u1", "c1"): Route("s1", TARGET, "/srv/work"),
        ("chat", "a:b", "c"): Route("s2", TARGET, "/"),
    }
    assert dict(await stores.routes.load()) == {}
    await stores.routes.save(routes)

    assert dict(await stores.routes.load()) == routes


async def test_settling_messages_twice_does_no_harm(stores):
    await stores.inbox.put(message("one"), keys=["a"])
    receipt = (await stores.inbox.take())[0].receipt
    await stores.ledger.settle([receipt], "local")
    await stores.ledger.settle([receipt], "local")
