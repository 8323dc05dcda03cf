"""Readers that fall behind: how far they may, what they are told, what it costs others."""

import json

import pytest

from events import kinds
from events.errors import SubscriptionEvicted
from events.feed import RING_SIZE
from events.hub import EventHub
from events.log import EventLog
from events.subscription import MAX_LAG, MAX_LAG_BYTES, WARN_SHARE
from tests.support.event_writer import WAIT_S, EventWriter, read, wait_until_seen

WARN_LAG = int(MAX_LAG * WARN_SHARE)


def test_a_slow_reader_is_warned_then_sent_away_and_can_resume(hub: EventHub, writer: EventWriter):
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        writer.append(WARN_LAG + 1)
        wait_until_seen(hub, writer, WARN_LAG + 1)
        warning, first = read(subscription, 2)
        writer.append(MAX_LAG)
        wait_until_seen(hub, writer, WARN_LAG + 1 + MAX_LAG)
        evicted = read(subscription, 1)[0]
        with pytest.raises(SubscriptionEvicted):
            subscription.next(WAIT_S)

    assert (warning.type, first.id, evicted.type) == (kinds.SLOW_CLIENT_WARNING, 1, kinds.CLIENT_EVICTED)
    with hub.open(writer.lane.workspace, after=1, epoch=None) as resumed:
        assert [event.id for event in read(resumed, 3)] == [2, 3, 4]


def test_a_reader_chooses_how_far_it_may_be_behind(hub: EventHub, writer: EventWriter):
    workspace = writer.lane.workspace
    with (
        hub.open(workspace, after=None, epoch=None, max_lag=16) as hasty,
        hub.open(workspace, after=None, epoch=None, max_lag=2048) as patient,
    ):
        writer.append(RING_SIZE + 50)
        wait_until_seen(hub, writer, RING_SIZE + 50)

        assert read(hasty, 1)[0].type == kinds.CLIENT_EVICTED
        assert [event.id for event in read(patient, RING_SIZE + 50)] == list(range(1, RING_SIZE + 51))


def test_a_reader_that_is_few_but_large_events_behind_is_warned_then_sent_away(
    hub: EventHub, writer: EventWriter
):
    payload = json.dumps({"n": "x" * (MAX_LAG_BYTES * 2 // 5)})
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        writer.append(3, payload=payload)
        wait_until_seen(hub, writer, 3)
        warning, first = read(subscription, 2)
        writer.append(2, payload=payload)
        wait_until_seen(hub, writer, 5)
        evicted = read(subscription, 1)[0]

    assert (warning.type, first.id, evicted.type) == (kinds.SLOW_CLIENT_WARNING, 1, kinds.CLIENT_EVICTED)
    assert json.loads(warning.data_json) == {
        "queueSize": 3,
        "queueBytes": 2 * len(payload),
        "maxQueued": MAX_LAG,
        "maxQueuedBytes": MAX_LAG_BYTES,
    }
    assert json.loads(evicted.data_json) == {
        "reason": "queue_overflow",
        "lag": 4,
        "lagBytes": 3 * len(payload),
    }


def test_one_event_over_the_limit_of_bytes_sends_nobody_away(hub: EventHub, writer: EventWriter):
    payload = json.dumps({"n": "x" * MAX_LAG_BYTES})
    with hub.open(writer.lane.workspace, after=None, epoch=None) as subscription:
        writer.append(payload=payload)

        assert read(subscription, 1)[0].data_json == payload


def test_a_reader_that_the_log_left_behind_is_told_what_is_missing(hub: EventHub, writer: EventWriter):
    with hub.open(writer.lane.workspace, after=None, epoch=None, max_lag=2048) as subscription:
        writer.append(1500)
        wait_until_seen(hub, writer, 1500)
        oldest = EventLog(writer.lane.redis).state(writer.lane.workspace).first_id

        resync, first = read(subscription, 2)

    assert (resync.type, first.id) == (kinds.STATE_RESYNC_REQUIRED, oldest)
    assert json.loads(resync.data_json) == {
        "reason": "ring_evicted",
        "lastDeliveredId": 0,
        "earliestAvailableId": oldest,
    }


def test_a_slow_reader_costs_another_one_nothing(hub: EventHub, writer: EventWriter):
    with (
        hub.open(writer.lane.workspace, after=None, epoch=None),
        hub.open(writer.lane.workspace, after=None, epoch=None) as quick,
    ):
        for number in range(1, 400):
            writer.append()
            assert read(quick, 1)[0].id == number


def test_a_reader_behind_the_shared_ring_reads_from_the_log(hub: EventHub, writer: EventWriter):
    writer.append(5)
    with (
        hub.open(writer.lane.workspace, after=0, epoch=None) as replaying,
        hub.open(writer.lane.workspace, after=None, epoch=None),
    ):
        writer.append(RING_SIZE + 50)
        wait_until_seen(hub, writer, 5 + RING_SIZE + 50)

        events = read(replaying, 6)
        evicted = read(replaying, 1)[0]

    assert [event.id for event in events] == [1, 2, 3, 4, 5, None]
    assert evicted.type == kinds.CLIENT_EVICTED
