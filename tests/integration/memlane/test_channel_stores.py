"""The stores of a channel on a Redis whose answers get lost or come late: nothing is done twice."""

import asyncio

import pytest

from channels.envelope import Envelope
from channels.ledger import TurnRecord
from channels.outbox import OutboundPart
from channels.routes import Route, RouteKey
from events.chat.store import ChannelStore
from events.connect import connect
from events.errors import StorageFull
from memlane.channels.stores import Patience, StoredInbox, StoredLedger, StoredOutbox, StoredRoutes
from tests.support.channels.scene import settle
from tests.support.lane import fresh_workspace_id
from tests.support.redis_proxy import redis_proxy

MESSAGE = Envelope(channel_name="chat", sender_id="u1", sender_name="Ann", chat_id="c1", text="hello")
TURN = TurnRecord("turn-1", "s1", MESSAGE.target, None, (), 0)
PARTS = [OutboundPart(f"k{n}", MESSAGE.target, f"part {n}") for n in range(2)]


class Site:
    """One channel's stores behind a proxy."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.store = ChannelStore(connect(proxy.url(0), retries=0), fresh_workspace_id(), "chat")
        self.store.claim("me", life_ms=60_000)
        patience = Patience(pause_s=0)
        self.inbox = StoredInbox(self.store, patience)
        self.ledger = StoredLedger(self.store, patience)
        self.outbox = StoredOutbox(self.store, patience)


@pytest.fixture
def site(redis_server):
    with redis_proxy(redis_server.state_url) as proxy:
        yield Site(proxy)


async def losing(site, what, asked):
    """What is answered although the first answer to a request that names such a key is lost."""
    cut = site.proxy.lose_reply(what)
    answer = await asked
    assert cut.happened.is_set()
    return answer


async def test_a_message_is_not_called_a_repeat_because_an_answer_of_redis_was_lost(site):
    await site.outbox.add(PARTS)

    assert await losing(site, ":part:k0", site.outbox.mark_sending("k0")) == "waiting"
    assert await site.outbox.mark_sending("k0") == "sending"


async def test_parts_are_stored_once_and_in_their_order_although_an_answer_was_lost(site):
    await losing(site, ":part:k1", site.outbox.add(PARTS))

    assert await site.outbox.unsent() == tuple(PARTS)


async def test_messages_are_taken_although_the_answer_that_held_them_was_lost(site):
    await site.inbox.put(MESSAGE, keys=["a"])

    (taken,) = await losing(site, ":inbox", site.inbox.take())
    assert taken.envelope.text == "hello"


async def test_a_turn_begins_and_ends_once_although_answers_were_lost(site):
    await losing(site, ":turn:", site.ledger.begin(TURN))
    (begun,) = await site.ledger.unfinished()
    await losing(site, ":turn:", site.ledger.end(TURN, "completed"))

    assert begun.record == TURN
    assert await site.ledger.unfinished() == ()
    assert not await site.ledger.end(TURN, "failed")


class SlowAtFirst(Patience):
    """The first call takes longer than those after it."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    async def ask_once(self, call):
        self.calls += 1
        if self.calls == 1:
            await settle()
        return await super().ask_once(call)


async def test_routes_that_were_saved_last_stay_although_an_earlier_saving_takes_longer(site):
    routes = StoredRoutes(site.store, SlowAtFirst())
    before: dict[RouteKey, Route] = {("chat", "u1", "c1"): Route("cleared", MESSAGE.target, "/srv/work")}
    await asyncio.gather(routes.save(before), routes.save({}))

    assert await routes.load() == {}


async def test_the_many_parts_of_a_long_answer_keep_their_order(site):
    parts = [OutboundPart(f"long:{n}", MESSAGE.target, f"part {n}", "turn-1") for n in range(120)]
    await site.outbox.add(parts)

    assert await site.outbox.unsent() == tuple(parts)


class FreedOnce(Patience):
    """Redis gets memory again after it was found full."""

    def __init__(self, client):
        super().__init__(pause_s=0)
        self.client = client
        self.refusals = 0

    async def ask_once(self, call):
        try:
            return await super().ask_once(call)
        except StorageFull:
            self.refusals += 1
            self.client.config_set("maxmemory", 0)
            raise


async def test_a_turn_and_its_answer_wait_for_a_redis_that_is_full(own_redis):
    client = connect(own_redis.state_url)
    store, patience = ChannelStore(client, fresh_workspace_id(), "chat"), FreedOnce(client)
    store.claim("me", life_ms=60_000)
    client.config_set("maxmemory", 1)
    await StoredLedger(store, patience).begin(TURN)
    client.config_set("maxmemory", 1)
    await StoredOutbox(store, patience).add(PARTS)

    assert patience.refusals == 2
    assert (len(store.unfinished()), len(store.unsent())) == (1, 2)


async def test_what_only_a_list_still_names_holds_up_nothing(site):
    await site.ledger.begin(TURN)
    await site.outbox.add(PARTS)
    keys = site.store._keys
    site.store._redis.delete(keys.turn("turn-1"), keys.part("k0"))

    assert await site.ledger.unfinished() == ()
    assert await site.outbox.unsent() == (PARTS[1],)
