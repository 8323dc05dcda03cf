"""The event log and its shared subscription, on a real server."""

import threading
from typing import TYPE_CHECKING

import pytest

from events import kinds
from events.connect import connect
from events.errors import StorageFull, StorageUnavailable
from events.hub import EventHub, open_hub
from events.log import EventLog, LogState
from memlane.embedded import EmbeddedRedis
from tests.support.event_writer import WAIT_S, EventWriter, read, wait_until_seen
from tests.support.lane import fresh_workspace_id
from tests.support.redis_server import kill_redis
from tests.support.waiting import until

if TYPE_CHECKING:
    from events.envelope import Envelope


def test_live_events_arrive_in_order_with_dense_ids(hub: EventHub, writer: EventWriter):
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        writer.append(3, client="client_a")

        events = read(subscription, 3)

    assert [event.id for event in events] == [1, 2, 3]
    assert events[0].to_json() == (
        '{"id":1,"v":1,"type":"memory_changed","data":{"n":[]},"originatorClientId":"client_a",'
        '"_meta":{"serverTimestamp":1000}}'
    )


def test_without_a_cursor_nothing_old_is_sent(hub: EventHub, writer: EventWriter):
    writer.append(2)

    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        writer.append()

        assert read(subscription, 1)[0].id == 3


def test_a_cursor_replays_what_came_after_it_and_says_when_it_is_done(hub: EventHub, writer: EventWriter):
    writer.append(5)

    with hub.open(writer.lane.workspace, after=2, epoch=None) as subscription:
        events = read(subscription, 4)
        writer.append()
        live = read(subscription, 1)

    assert [event.id for event in events] == [3, 4, 5, None]
    assert events[3].type == kinds.REPLAY_COMPLETE
    assert events[3].data_json == '{"lastReplayedEventId":5,"lastEventId":5,"replayedCount":3}'
    assert live[0].id == 6


def test_the_newest_cursor_replays_nothing(hub: EventHub, writer: EventWriter):
    writer.append(2)

    with hub.open(writer.lane.workspace, after=2, epoch=None) as subscription:
        assert read(subscription, 1)[0].data_json == '{"replayedCount":0}'


def test_a_cursor_from_the_future_starts_over(hub: EventHub, writer: EventWriter):
    writer.append(1)

    with hub.open(writer.lane.workspace, after=999, epoch=None) as subscription:
        resync, event, complete = read(subscription, 3)

    assert resync.data_json == '{"reason":"epoch_reset","lastDeliveredId":999,"earliestAvailableId":1}'
    assert (event.id, complete.type) == (1, kinds.REPLAY_COMPLETE)


def test_a_cursor_of_another_epoch_starts_over(hub: EventHub, writer: EventWriter):
    writer.append(1)

    with hub.open(writer.lane.workspace, after=1, epoch="another") as subscription:
        resync = read(subscription, 1)[0]

    assert resync.type == kinds.STATE_RESYNC_REQUIRED
    assert '"detail":"epoch_mismatch"' in resync.data_json


def test_a_cursor_older_than_the_log_is_told_what_is_missing(hub: EventHub, writer: EventWriter):
    writer.append(1300)
    oldest = int(writer.lane.redis.xrange(writer.lane.keys.events, count=1)[0][0].partition("-")[0])

    with hub.open(writer.lane.workspace, after=1, epoch=None) as subscription:
        resync, first = read(subscription, 2)

    assert oldest > 2
    assert resync.data_json == (
        f'{{"reason":"ring_evicted","lastDeliveredId":1,"earliestAvailableId":{oldest}}}'
    )
    assert first.id == oldest


def test_nothing_within_the_time_gives_nothing(hub: EventHub, writer: EventWriter):
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        assert subscription.next(0.01) is None


def test_the_epoch_stays_while_the_log_lives(hub: EventHub, writer: EventWriter):
    first = hub.open(writer.lane.workspace, after=None, epoch=None)
    writer.append()
    second = hub.open(writer.lane.workspace, after=None, epoch=None)

    assert first.epoch == second.epoch
    first.close()
    first.close()  # may be repeated
    second.close()


def test_two_workspaces_do_not_see_each_other(redis_url: str):
    mine, other = EventWriter(redis_url), EventWriter(redis_url)
    hub = open_hub(redis_url, [mine.lane.workspace, other.lane.workspace])
    with hub.open(mine.lane.workspace, after=0, epoch=None) as subscription:
        other.append(3)

        assert read(subscription, 1)[0].type == kinds.REPLAY_COMPLETE
        assert subscription.next(0.05) is None
    hub.close()


def test_readers_catch_up_after_redis_was_killed(own_redis: EmbeddedRedis):
    writer = EventWriter(own_redis.state_url)
    hub = open_hub(own_redis.state_url, [writer.lane.workspace])
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        writer.append()
        read(subscription, 1)

        kill_redis(own_redis)
        with pytest.raises(StorageUnavailable):
            hub.open(writer.lane.workspace, after=0, epoch=None)
        own_redis.start()
        writer.append(2)

        assert [event.id for event in read(subscription, 2)] == [2, 3]
    hub.close()


def test_a_log_that_starts_anew_tells_its_readers(own_redis: EmbeddedRedis):
    writer = EventWriter(own_redis.state_url)
    hub = open_hub(own_redis.state_url, [writer.lane.workspace])
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        writer.append(2)
        read(subscription, 2)

        writer.lane.redis.flushall()
        writer.append()
        kill_redis(own_redis)  # makes the hub subscribe again and look
        own_redis.start()
        resync, event = read(subscription, 2)

        assert '"reason":"epoch_reset"' in resync.data_json
        assert event.id == 1
    hub.close()


def test_an_event_aside_reaches_the_readers_of_every_instance_without_an_id(
    redis_url: str, writer: EventWriter
):
    hubs = [open_hub(redis_url, [writer.lane.workspace]) for _ in range(2)]
    readers = [hub.open(writer.lane.workspace, after=None, epoch=None) for hub in hubs]
    writer.append()
    for reader in readers:
        read(reader, 1)

    writer.tell_aside('{"n":[]}', place=1, client="client_a")

    for reader in readers:
        (aside,) = read(reader, 1)
        assert (aside.id, aside.type, aside.data_json, aside.originator) == (
            None,
            kinds.TASK_PROGRESS,
            '{"n":[]}',
            "client_a",
        )
    for hub, reader in zip(hubs, readers, strict=True):
        reader.close()
        hub.close()


def test_a_reader_gets_the_newest_aside_in_its_place_and_no_past_one(hub: EventHub, writer: EventWriter):
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        writer.append()
        for number in range(3):
            writer.tell_aside(f'{{"n":{number}}}', place=1)
        until(lambda: '{"n":2}' in str(hub._feeds[writer.lane.workspace].aside))
        writer.append()
        wait_until_seen(hub, writer, 2)
        first = [(event.id, event.data_json) for event in read(subscription, 3)]
        writer.tell_aside('{"n":3}', place=1)  # told late: the event 2 was read before it
        writer.append()
        later = [event.id for event in read(subscription, 1)]

    assert first == [(1, '{"n":[]}'), (None, '{"n":2}'), (2, '{"n":[]}')]
    assert later == [3]


@pytest.mark.parametrize("message", ["", "1", "one  {}", "1 {}", "1 a b {}", "-1  {}", "1  []"])
def test_an_aside_in_another_shape_is_skipped_and_harms_nobody(
    hub: EventHub, writer: EventWriter, message: str
):
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        writer.append()
        writer.lane.redis.publish(writer.lane.keys.asides, message)
        writer.append()

        assert [event.id for event in read(subscription, 2)] == [1, 2]


def test_who_comes_later_hears_nothing_of_an_aside(hub: EventHub, writer: EventWriter):
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        writer.append()
        read(subscription, 1)
        writer.tell_aside("{}", place=1)
        read(subscription, 1)

        with hub.open(writer.lane.workspace, after=None, epoch=None) as later:
            assert later.next(0.01) is None
        assert subscription.next(0.01) is None


def test_a_reader_can_be_interrupted_and_then_reads_on(hub: EventHub, writer: EventWriter):
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        interrupter = threading.Thread(target=subscription.interrupt)
        interrupter.start()

        assert subscription.next(WAIT_S * 6) is None
        writer.append()
        assert read(subscription, 1)[0].id == 1
        assert subscription.next(0.01) is None
    interrupter.join()


def test_closing_the_hub_wakes_its_readers(redis_url: str):
    workspace = fresh_workspace_id()
    hub = open_hub(redis_url, [workspace])
    subscription = hub.open(workspace, after=None, epoch=None)
    answers: list[Envelope | None] = []
    reader = threading.Thread(target=lambda: answers.append(subscription.next(WAIT_S * 6)))
    reader.start()

    hub.close()

    reader.join(WAIT_S)
    assert answers == [None]


@pytest.fixture
def promoted(own_redis: EmbeddedRedis) -> EventWriter:
    """A writer on a server that has been a replica, and so has a replication id before its own."""
    writer = EventWriter(own_redis.state_url)
    writer.append(3)
    writer.lane.redis.replicaof("127.0.0.1", 1)  # of a primary that never answers
    writer.lane.redis.replicaof("NO", "ONE")
    return writer


@pytest.mark.parametrize("known", ["the id before", "an id from two failovers ago"])
def test_after_a_failover_numbers_go_on_beyond_any_that_were_lost(promoted: EventWriter, known: str):
    lane, log = promoted.lane, EventLog(promoted.lane.redis)
    before = log.state(lane.workspace)
    if known != "the id before":
        lane.redis.hset(lane.keys.lane, "eventReplid", "f" * 40)

    promoted.append()

    after = log.state(lane.workspace)
    assert after.epoch != before.epoch
    assert after.last_id == before.last_id + 1000 + 1
    promoted.append()
    assert log.state(lane.workspace) == LogState(after.epoch, 1, after.last_id + 1)


def test_numbers_that_a_failover_skipped_are_no_loss(promoted: EventWriter, own_redis: EmbeddedRedis):
    promoted.append()
    state = EventLog(promoted.lane.redis).state(promoted.lane.workspace)
    hub = open_hub(own_redis.state_url, [promoted.lane.workspace])
    with hub.open(promoted.lane.workspace, after=3, epoch=state.epoch) as subscription:
        event, complete = read(subscription, 2)

    assert (event.id, complete.type) == (state.last_id, kinds.REPLAY_COMPLETE)
    hub.close()


def test_a_restart_on_the_same_data_keeps_epoch_and_numbers(own_redis: EmbeddedRedis):
    writer = EventWriter(own_redis.state_url)
    writer.append(3)
    before = EventLog(writer.lane.redis).state(writer.lane.workspace)

    kill_redis(own_redis)
    own_redis.start()
    writer.append()

    after = EventLog(writer.lane.redis).state(writer.lane.workspace)
    assert (after.epoch, after.last_id) == (before.epoch, before.last_id + 1)


def test_a_full_redis_keeps_readers_waiting_and_does_not_silence_them(own_redis: EmbeddedRedis):
    writer = EventWriter(own_redis.state_url)
    hub = open_hub(own_redis.state_url, [writer.lane.workspace])
    writer.append()
    with hub.open(writer.lane.workspace, after=1, epoch=None) as subscription:
        read(subscription, 1)
        writer.lane.redis.config_set("maxmemory", 1)
        with pytest.raises(StorageFull):
            EventLog(writer.lane.redis).state(fresh_workspace_id())
        writer.lane.redis.config_set("maxmemory", 0)

        writer.append()

        assert read(subscription, 1)[0].id == 2
    hub.close()


def test_a_crowd_of_readers_is_not_refused_by_our_own_side(redis_url: str):
    pool = connect(redis_url).connection_pool

    crowd = [pool.get_connection() for _ in range(300)]

    assert len(crowd) == 300
    for connection in crowd:
        pool.release(connection)
    pool.disconnect()
