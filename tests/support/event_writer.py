"""Appends events to a log, and reads them through a hub."""

from core.ids import WorkspaceId, new_uuid
from events.connect import connect
from events.envelope import Envelope
from events.hub import EventHub
from events.scripts import append_fragment
from events.subscription import Subscription
from tests.support.lane import LaneUnderTest, fresh_workspace_id

WAIT_S = 10.0


class EventWriter:
    """Appends events the way the lane scripts do."""

    def __init__(self, url: str, workspace: WorkspaceId | None = None) -> None:
        self.lane = LaneUnderTest(connect(url), workspace=workspace or fresh_workspace_id())
        keys = self.lane.keys
        body = (
            "local known = redis.call('HMGET', KEYS[1], 'eventSeq', 'eventEpoch', 'eventReplid')\n"
            "local log = {lane = KEYS[1], stream = KEYS[2], channel = ARGV[1], epoch = ARGV[2], now = 1000,\n"
            "  last = known[1], known_epoch = known[2], known_replid = known[3]}\n"
            "for _ = 1, tonumber(ARGV[3]) do\n"
            "  append_event(log, 'memory_changed', ARGV[5], ARGV[4])\n"
            "end\n"
            "redis.call('HSET', KEYS[1], 'eventSeq', ring_log(log))"
        )
        self._script = self.lane.redis.register_script(append_fragment() + body)
        self._keys = [keys.lane, keys.events]
        self._channel = keys.channel

    def tell_aside(self, payload: str, *, place: int, client: str = "") -> None:
        self.lane.redis.publish(self.lane.keys.asides, f"{place} {client} {payload}")

    def append(self, count: int = 1, *, client: str = "", payload: str = '{"n":[]}') -> None:
        self._script(keys=self._keys, args=[self._channel, new_uuid(), count, client, payload])


def read(subscription: Subscription, count: int) -> list[Envelope]:
    found: list[Envelope] = []
    while len(found) < count:
        envelope = subscription.next(WAIT_S)
        assert envelope is not None, f"only {len(found)} events came"
        found.append(envelope)
    return found


def wait_until_seen(hub: EventHub, writer: EventWriter, last_id: int) -> None:
    """Wait, by a reader of its own, until the hub has the event."""
    with hub.open(writer.lane.workspace, after=last_id - 1, epoch=None) as subscription:
        read(subscription, 1)
    feed = hub._feeds[writer.lane.workspace]
    seat = feed.join()
    seat.wait(after=last_id - 1, epoch=feed.epoch, timeout_s=WAIT_S)
    feed.leave(seat)
