"""What each script of a channel answers, on a real server."""

import threading

import pytest

from events.chat.store import KNOWN_MS, READ_BATCH, ChannelStore, Lease, StoredPart, StoredTurn, Taken
from events.connect import connect
from events.errors import ChannelBacklogFull, ChannelLeaseLost, StorageFull, StorageUnavailable
from tests.support.lane import fresh_workspace_id
from tests.support.waiting import until


@pytest.fixture
def place(redis_url):
    """Opens stores of one channel, as many processes would."""
    workspace = fresh_workspace_id()

    def opened(**facts):
        return ChannelStore(connect(redis_url), workspace, "team/chat", **facts)

    return opened


@pytest.fixture
def store(place):
    """The store of the process that serves the channel."""
    served = place()
    assert isinstance(served.claim("me", life_ms=60_000), Lease)
    return served


def token(claimed):
    """The fencing token of a claim that was granted, as a number."""
    assert isinstance(claimed, Lease)
    return int(claimed.token)


def test_a_channel_is_one_process_s_until_its_time_is_up(place, store):
    other = place()

    assert isinstance(other.claim("other", life_ms=60_000), Taken)
    store.renew(life_ms=0)
    assert isinstance(other.claim("other", life_ms=60_000), Lease)


def test_who_claims_what_it_has_keeps_its_token(store):
    assert store.claim("me", life_ms=1) == store.claim("me", life_ms=60_000)


def test_a_channel_whose_process_is_gone_is_the_next_one_s_with_a_greater_token(place, store):
    first = token(store.claim("me", life_ms=0))

    assert token(place().claim("other", life_ms=60_000)) > first


def test_a_channel_that_is_given_up_is_free_at_once(place, store):
    first = token(store.claim("me", life_ms=60_000))
    store.release()

    assert token(place().claim("other", life_ms=60_000)) > first


def test_who_gave_a_channel_up_and_takes_it_again_has_another_token(store):
    first = token(store.claim("me", life_ms=60_000))
    store.release()

    assert token(store.claim("me", life_ms=60_000)) > first


def test_the_next_token_is_greater_although_the_clock_went_back(place, store, redis_url):
    connect(redis_url).hset(store._keys.lease, "token", "99999999999999")
    store.claim("me", life_ms=0)

    assert token(place().claim("other", life_ms=0)) == 100_000_000_000_000


def test_who_served_a_channel_on_a_server_that_lost_it_writes_nothing_once_another_one_does(
    place, store, redis_url
):
    connect(redis_url).delete(store._keys.lease)
    other = place()
    other.claim("other", life_ms=60_000)

    with pytest.raises(ChannelLeaseLost):
        store.begin("t", "turn")
    assert other.unfinished() == []


def test_a_lease_that_ran_out_is_renewed_while_nobody_took_the_channel(place, store):
    store.renew(life_ms=0)
    store.renew(life_ms=60_000)

    assert isinstance(place().claim("other", life_ms=60_000), Taken)


def test_a_lease_is_not_renewed_once_another_process_had_the_channel_although_it_left_it(place, store):
    store.renew(life_ms=0)
    other = place()
    other.claim("other", life_ms=60_000)
    other.release()

    with pytest.raises(ChannelLeaseLost):
        store.renew(life_ms=60_000)
    assert isinstance(place().claim("third", life_ms=60_000), Lease)


def test_giving_up_what_is_another_s_changes_nothing(place, store):
    store.claim("me", life_ms=0)
    other = place()
    other.claim("other", life_ms=60_000)
    store.release()

    assert isinstance(place().claim("third", life_ms=60_000), Taken)


WRITES = {
    "renew": lambda store: store.renew(life_ms=60_000),
    "settle": lambda store: store.settle(["1-0"]),
    "begin": lambda store: store.begin("t", "{}"),
    "deliver": lambda store: store.start_delivery("t"),
    "end": lambda store: store.end("t", "completed", reason="", receipts=[]),
    "add": lambda store: store.add([("k", "text", "")]),
    "sending": lambda store: store.mark_sending("k", attempt="a"),
    "sent": lambda store: store.mark_sent("k", ""),
    "route": lambda store: store.save_routes("[]"),
}


@pytest.mark.parametrize("write", WRITES)
def test_who_lost_the_channel_writes_nothing(place, store, write):
    store.begin("t", "turn")
    store.add([("k", "text", "t")])
    store.claim("me", life_ms=0)
    other = place()
    other.claim("other", life_ms=60_000)
    with pytest.raises(ChannelLeaseLost):
        WRITES[write](store)

    assert other.unfinished() == [StoredTurn("turn", "running")]
    assert other.unsent() == [StoredPart("k", "text", "t", "waiting")]
    assert other.load_routes() is None
    assert isinstance(store.claim("me", life_ms=60_000), Taken)


def test_a_lease_that_ran_out_still_holds_while_nobody_took_the_channel(store):
    store.claim("me", life_ms=0)
    store.begin("t", "turn")

    assert len(store.unfinished()) == 1


def test_messages_are_read_in_their_order(store):
    assert store.put("one", keys=["a"])
    assert store.put("two", keys=["b"])
    first, second = store.read(after="0", wait_ms=None)

    assert (first[1], second[1]) == ("one", "two")
    assert store.read(after=first[0], wait_ms=None) == [second]
    assert store.read(after=second[0], wait_ms=None) == []


def test_more_messages_than_are_read_at_once_come_one_after_the_other(store):
    bodies = [f"message {n}" for n in range(READ_BATCH + 1)]
    for body in bodies:
        store.put(body, keys=[body])
    first = store.read(after="0", wait_ms=None)
    rest = store.read(after=first[-1][0], wait_ms=None)

    assert (len(first), len(rest)) == (READ_BATCH, 1)
    assert [body for _, body in (*first, *rest)] == bodies


def test_a_message_is_known_again_by_each_of_its_keys(store):
    assert store.put("one", keys=["a", "b"])

    assert not store.put("again", keys=["b"])
    assert not store.put("again", keys=["c", "a"])
    assert store.put("another", keys=["c"])


def test_a_message_that_was_settled_is_not_read_and_still_known(store):
    store.put("one", keys=["a"])
    receipt = store.read(after="0", wait_ms=None)[0][0]
    store.settle([receipt])
    store.settle([receipt])

    assert store.read(after="0", wait_ms=None) == []
    assert not store.put("one", keys=["a"])


def test_more_messages_than_may_wait_are_refused_and_not_known(place):
    store = place(max_waiting=1)
    store.put("one", keys=["a"])
    with pytest.raises(ChannelBacklogFull):
        store.put("two", keys=["b"])
    assert [body for _, body in store.read(after="0", wait_ms=None)] == ["one"]

    assert place().put("two", keys=["b"])


def test_what_is_too_old_is_forgotten_whenever_a_message_comes(store, redis_url):
    store.put("one", keys=["a"])
    store.put("two", keys=["b"])
    client = connect(redis_url)
    oldest = str(client.zrange(store._keys.seen, 0, 0)[0])
    client.zadd(store._keys.seen, {oldest: 1})
    store.put("three", keys=["c"])

    assert client.zcard(store._keys.seen) == 2
    assert 0 < client.pttl(store._keys.seen) <= KNOWN_MS


def test_a_full_redis_stores_no_message_although_it_forgets_old_ones_first(own_redis):
    client = connect(own_redis.state_url)
    store = ChannelStore(client, fresh_workspace_id(), "chat")
    store.put("one", keys=["a"])
    client.config_set("maxmemory", 1)
    with pytest.raises(StorageFull):
        store.put("two", keys=["b"])
    client.config_set("maxmemory", 0)

    assert [body for _, body in store.read(after="0", wait_ms=None)] == ["one"]
    assert store.put("two", keys=["b"])


def test_a_full_redis_lets_what_has_begun_come_to_its_end_and_nothing_new_begin(own_redis):
    client = connect(own_redis.state_url)
    store = ChannelStore(client, fresh_workspace_id(), "chat")
    store.claim("me", life_ms=60_000)
    store.put("one", keys=["a"])
    store.begin("t", "turn")
    store.add([("k", "text", "t")])
    client.config_set("maxmemory", 1)
    for begin in (lambda: store.begin("u", "turn"), lambda: store.add([("l", "text", "t")])):
        with pytest.raises(StorageFull):
            begin()
    store.claim("me", life_ms=60_000)
    store.renew(life_ms=60_000)
    store.start_delivery("t")
    store.mark_sending("k", attempt="first")
    store.mark_sent("k", "provider-7")
    store.end("t", "completed", reason="", receipts=[])
    store.settle([store.read(after="0", wait_ms=None)[0][0]])
    store.save_routes("[]")
    store.release()

    assert (store.unfinished(), store.unsent(), store.read(after="0", wait_ms=None)) == ([], [], [])


def test_who_waits_at_a_server_that_becomes_a_replica_is_told_that_it_is_away(own_redis):
    client, told = connect(own_redis.state_url), []
    store = ChannelStore(connect(own_redis.state_url), fresh_workspace_id(), "chat")

    def wait():
        with pytest.raises(StorageUnavailable):
            store.read(after="0", wait_ms=4_000)
        told.append("away")

    def sent_away():
        """What a failover does to who waits; whether anybody did."""
        waiting = [one["id"] for one in client.client_list() if one["cmd"] == "xread"]
        return any(client.execute_command("CLIENT", "UNBLOCK", one, "ERROR") for one in waiting)

    reader = threading.Thread(target=wait)
    reader.start()
    until(sent_away)
    reader.join(10)

    assert told == ["away"]


def test_of_messages_at_once_with_one_key_one_is_stored(place):
    stores = [place() for _ in range(8)]
    barrier = threading.Barrier(8)
    stored = []

    def put(store):
        barrier.wait()
        stored.append(store.put("x", keys=["same"]))

    threads = [threading.Thread(target=put, args=[store]) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(stored) == [False] * 7 + [True]


def test_who_waits_for_a_message_gets_it_as_it_comes(place, store):
    waiting = []
    reader = threading.Thread(target=lambda: waiting.extend(store.read(after="0", wait_ms=4_000)))
    reader.start()
    place().put("one", keys=["a"])
    reader.join(10)

    assert [body for _, body in waiting] == ["one"]


def test_a_turn_is_unfinished_until_its_one_end(store):
    store.put("one", keys=["a"])
    receipt = store.read(after="0", wait_ms=None)[0][0]
    store.begin("t", "turn")
    store.begin("t", "another")
    assert store.unfinished() == [StoredTurn("turn", "running")]
    store.start_delivery("t")
    store.start_delivery("t")
    assert store.unfinished() == [StoredTurn("turn", "delivering")]
    assert store.end("t", "completed", reason="", receipts=[receipt])
    assert not store.end("t", "failed", reason="agent", receipts=[receipt])
    store.start_delivery("t")

    assert store.unfinished() == []
    assert store.read(after="0", wait_ms=None) == []


def test_a_turn_that_is_not_known_has_no_end_but_its_messages_are_done_with(store):
    store.put("one", keys=["a"])
    receipt = store.read(after="0", wait_ms=None)[0][0]
    assert not store.end("nobody's", "completed", reason="", receipts=[receipt])
    store.start_delivery("nobody's")

    assert store.unfinished() == []
    assert store.read(after="0", wait_ms=None) == []


def test_the_delivery_of_an_answer_begins_no_turn_that_is_not_known(store, redis_url):
    store.start_delivery("nobody's")

    assert not connect(redis_url).exists(store._keys.turn("nobody's"))


def test_what_became_of_a_turn_can_be_read(store, redis_url):
    store.begin("t", "turn")
    store.end("t", "failed", reason="agent", receipts=[])
    store.start_delivery("t")
    row = connect(redis_url).hgetall(store._keys.turn("t"))

    assert (row["terminalEvent"], row["terminalReason"], row["state"]) == ("failed", "agent", "ended")
    assert connect(redis_url).pttl(store._keys.turn("t")) > 0


def test_messages_on_their_way_out_keep_their_order_and_state(store):
    store.add([("k1", "one", "t"), ("k2", "two", "")])
    store.add([("k1", "changed", "t")])
    assert store.mark_sending("k1", attempt="first") == "waiting"
    assert store.mark_sending("k1", attempt="second") == "sending"
    assert store.unsent() == [StoredPart("k1", "one", "t", "sending"), StoredPart("k2", "two", "", "waiting")]
    store.mark_sent("k1", "provider-7")
    store.mark_sent("k1", "provider-7")
    assert store.mark_sending("k1", attempt="third") == "sent"
    store.add([("k1", "one", "t")])

    assert store.unsent() == [StoredPart("k2", "two", "", "waiting")]
    assert store.mark_sending("nobody's", attempt="first") == "sent"


def test_of_what_was_sent_the_text_is_not_kept(store, redis_url):
    store.add([("k1", "secret", "")])
    store.mark_sending("k1", attempt="first")
    store.mark_sent("k1", "provider-7")
    key = store._keys.part("k1")

    assert connect(redis_url).hgetall(key) == {"turn": "", "state": "sent", "providerId": "provider-7"}
    assert connect(redis_url).pttl(key) > 0
    assert not connect(redis_url).exists(store._keys.outbox)


def test_routes_are_what_was_saved_last(store):
    assert store.load_routes() is None
    store.save_routes("[1]")
    store.save_routes("[2]")

    assert store.load_routes() == "[2]"


def test_two_channels_have_nothing_in_common(place, store, redis_url):
    other = ChannelStore(connect(redis_url), store._keys.workspace, "team:chat")
    store.put("one", keys=["a"])

    assert other.put("one", keys=["a"])
    assert isinstance(other.claim("other", life_ms=60_000), Lease)


def test_without_a_server_it_says_so():
    away = ChannelStore(connect("redis://127.0.0.1:1", retries=0), fresh_workspace_id(), "x")

    for ask in (away.unfinished, away.load_routes, lambda: away.put("x", keys=["a"])):
        with pytest.raises(StorageUnavailable):
            ask()
