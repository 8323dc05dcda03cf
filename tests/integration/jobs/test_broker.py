import os
import signal
import threading
from collections.abc import Iterator

import dramatiq
import pytest
import redis
from dramatiq.broker import Consumer, MessageProxy
from dramatiq.errors import ConnectionClosed

from core.keys import DOORBELL_CHANNEL
from core.settings import Settings
from events.connect import connect
from events.listener import Listener
from jobs.broker import ACTOR, BROKER_TIMEOUT_S, IDLE_POLL_S, QUEUE, Doorbell, LaneBroker, open_broker
from jobs.broker_probe import BrokerProbe
from memlane.embedded import EmbeddedRedis
from tests.support.lane import fresh_workspace_id

WAIT_S = 20.0


@pytest.fixture
def settings(own_redis: EmbeddedRedis) -> Settings:
    return Settings(redis_url=own_redis.state_url)


@pytest.fixture
def doorbell(settings: Settings) -> Doorbell:
    return Doorbell(open_broker(settings), connect(settings.state))


@pytest.fixture
def broker(settings: Settings) -> Iterator[LaneBroker]:
    broker = open_broker(settings)
    yield broker
    broker.close()


class TestWaking:
    @pytest.fixture
    def rung(self, settings: Settings, broker: LaneBroker) -> Iterator["Rung"]:
        rung = Rung()
        dramatiq.actor(broker=broker, actor_name=ACTOR, queue_name=QUEUE)(rung)
        engine = dramatiq.Worker(broker, worker_timeout=50, worker_threads=2)
        listener = Listener(
            settings.state, {DOORBELL_CHANNEL: lambda _: broker.wake()}, on_gap=broker.wake, name="test"
        )
        engine.start()
        yield rung
        engine.stop()
        listener.close()

    def test_a_ring_reaches_an_idle_worker(self, rung: "Rung", doorbell: Doorbell):
        workspace = fresh_workspace_id()

        doorbell.ring(workspace, 7)

        assert rung.heard.wait(WAIT_S)
        assert rung.calls == [(workspace, 7)]

    def test_a_ring_that_was_not_heard_is_found_by_looking(self, rung: "Rung", settings: Settings):
        deaf = Doorbell(open_broker(settings), connect("redis://127.0.0.1:1/0"))

        deaf.ring(fresh_workspace_id(), 7)

        assert rung.heard.wait(IDLE_POLL_S + WAIT_S)

    def test_a_consumer_outlives_a_redis_that_did_not_answer(
        self, rung: "Rung", doorbell: Doorbell, own_redis: EmbeddedRedis
    ):
        os.kill(own_redis.pid, signal.SIGSTOP)
        silent = connect(own_redis.broker_url, timeout_s=BROKER_TIMEOUT_S + 1, retries=0)
        with pytest.raises(redis.TimeoutError):
            silent.ping()  # by now the consumers' calls have timed out, too
        os.kill(own_redis.pid, signal.SIGCONT)

        doorbell.ring(fresh_workspace_id(), 7)

        assert rung.heard.wait(WAIT_S)

    def test_more_rings_than_threads_are_all_answered(self, rung: "Rung", doorbell: Doorbell):
        rung.wanted = 50
        for number in range(50):
            doorbell.ring(fresh_workspace_id(), number)

        assert rung.heard.wait(WAIT_S)
        assert sorted(stamp for _, stamp in rung.calls) == list(range(50))


class Rung:
    """An actor that keeps what it was called with."""

    __name__ = "rung"

    def __init__(self) -> None:
        self.calls: list[tuple[str, int]] = []
        self.wanted = 1
        self.heard = threading.Event()

    def __call__(self, workspace: str, stamp_ms: int) -> None:
        self.calls.append((workspace, stamp_ms))
        if len(self.calls) >= self.wanted:
            self.heard.set()


class TestAcknowledging:
    @pytest.fixture
    def kept(self, settings: Settings) -> "Kept":
        return Kept(settings)

    def test_a_stopped_worker_leaves_nothing_of_what_it_is_done_with(
        self, broker: LaneBroker, doorbell: Doorbell, kept: "Kept"
    ):
        rung = Rung()
        dramatiq.actor(broker=broker, actor_name=ACTOR, queue_name=QUEUE)(rung)
        engine = dramatiq.Worker(broker, worker_timeout=50, worker_threads=2)
        doorbell.ring(fresh_workspace_id(), 7)

        engine.start()
        assert rung.heard.wait(WAIT_S)
        engine.stop()

        assert kept.messages() == 0
        assert kept.unacknowledged(broker) == 0

    def test_what_is_done_is_told_with_the_next_fetch(
        self, broker: LaneBroker, doorbell: Doorbell, kept: "Kept"
    ):
        doorbell.ring(fresh_workspace_id(), 7)
        consumer = broker.consume(QUEUE, prefetch=1)
        first = taken(consumer)
        doorbell.ring(fresh_workspace_id(), 8)

        consumer.ack(first)
        assert kept.unacknowledged(broker) == 1
        second = taken(consumer)

        assert second.args[1] == 8
        assert kept.messages() == kept.unacknowledged(broker) == 1

    def test_what_could_not_be_told_is_told_by_the_next_consumer(
        self, broker: LaneBroker, doorbell: Doorbell, own_redis: EmbeddedRedis, kept: "Kept"
    ):
        doorbell.ring(fresh_workspace_id(), 7)
        consumer = broker.consume(QUEUE, prefetch=1)
        consumer.ack(taken(consumer))
        own_redis.stop()
        with pytest.raises(ConnectionClosed):
            next(consumer)
        consumer.close()  # as dramatiq does then
        own_redis.start()

        broker.consume(QUEUE, prefetch=1).close()

        assert kept.messages() == kept.unacknowledged(broker) == 0

    def test_a_server_that_forgot_the_script_is_told_it_again(
        self, broker: LaneBroker, doorbell: Doorbell, settings: Settings
    ):
        doorbell.ring(fresh_workspace_id(), 7)
        connect(settings.broker).script_flush()

        assert len(broker.exchange(QUEUE, ["unknown"], room=1)) == 1


def taken(consumer: Consumer) -> MessageProxy:
    message = next(consumer)
    assert message is not None
    return message


class Kept:
    """What dramatiq keeps of messages."""

    def __init__(self, settings: Settings) -> None:
        self._client = connect(settings.broker)

    def messages(self) -> int:
        return self._client.hlen(f"dramatiq:{QUEUE}.msgs")

    def unacknowledged(self, broker: LaneBroker) -> int:
        return self._client.scard(f"dramatiq:__acks__.{broker.broker_id}.{QUEUE}")


class TestProbe:
    def test_sees_the_oldest_ring_that_waits(self, broker: LaneBroker, doorbell: Doorbell):
        probe = BrokerProbe(broker)
        assert probe.oldest_stamp_ms() == 0

        doorbell.ring(fresh_workspace_id(), 11)
        doorbell.ring(fresh_workspace_id(), 12)

        assert probe.oldest_stamp_ms() == 11
        assert doorbell.waiting() == 2

    def test_trusts_itself_only_if_it_reads_back_what_it_wrote(
        self, broker: LaneBroker, doorbell: Doorbell, monkeypatch: pytest.MonkeyPatch
    ):
        doorbell.ring(fresh_workspace_id(), 11)
        monkeypatch.setattr(broker, "namespace", "another-layout")
        probe = BrokerProbe(broker)
        monkeypatch.setattr(probe, "_oldest", lambda _queue: 0)

        assert probe.oldest_stamp_ms() is None

    def test_a_message_it_cannot_read_tells_nothing(self, settings: Settings, broker: LaneBroker):
        probe = BrokerProbe(broker)
        probe.oldest_stamp_ms()
        client = connect(settings.broker)
        client.rpush(f"dramatiq:{QUEUE}", "m1")

        assert probe.oldest_stamp_ms() is None

        client.hset(f"dramatiq:{QUEUE}.msgs", "m1", "{}")
        assert probe.oldest_stamp_ms() is None
