"""dramatiq as the engine: a doorbell queue whose messages carry no content."""

import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import dramatiq
from dramatiq.brokers.redis import RedisBroker, _RedisConsumer
from dramatiq.common import current_millis
from dramatiq.errors import ConnectionClosed, DramatiqError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from core.ids import WorkspaceId
from core.keys import DOORBELL_CHANNEL, LaneKeys
from core.logs import get_logger
from core.settings import Settings
from events.connect import connect, storage_errors
from events.errors import StorageFull, StorageUnavailable

if TYPE_CHECKING:
    import redis

QUEUE = "lanes"
ACTOR = "run_lane"

HEARTBEAT_TIMEOUT_MS = 60_000
MAINTENANCE_PER_MILLION = 100_000
DEAD_MESSAGE_TTL_MS = 3_600_000
BROKER_TIMEOUT_S = 5.0
IDLE_POLL_S = 1.0  # a consumer that nobody wakes looks by itself this often
# before the next worker gets a doorbell that the last one could do nothing with
PASS_DELAYS_MS = (5, 10, 20, 30, 40, 60, 80, 120, 160, 250, 500, 1_000, 2_000)
FETCH_SLEEP_MS = 1  # what dramatiq's own consumer may sleep; the waiting is ours

_log = get_logger(__name__)


class _WakefulConsumer(_RedisConsumer):
    """Waits to be woken where dramatiq's own sleeps: quicker than polling, at a tenth of its cost.

    A message that is done is acknowledged with the next fetch, which its thread need not wait for: one that
    comes twice, because this process died in between, is a doorbell rung once too often.
    """

    def __init__(self, broker: "LaneBroker", queue_name: str, prefetch: int, timeout: int) -> None:  # noqa: ARG002, PLR0917 - dramatiq calls it so
        super().__init__(broker, queue_name, prefetch, FETCH_SLEEP_MS)
        self._awake = threading.Event()
        self._done = broker.done.setdefault(queue_name, deque())
        broker.sleepers.add(self._awake)

    def __next__(self) -> Any:
        # what an exchange did not find, another fetch would not find either
        has_looked = self._exchange() if self._done and not self.message_cache else False
        message = super().__next__() if self.message_cache or not has_looked else None
        if message is None:
            self._awake.wait(IDLE_POLL_S)
            self._awake.clear()
        return message

    def ack(self, message: Any) -> None:
        self._done.append(message.options["redis_message_id"])
        self.queued_message_ids.discard(message.message_id)
        self._awake.set()  # a thread is free: fetch for it at once

    def nack(self, message: Any) -> None:
        super().nack(message)
        self._awake.set()

    def close(self) -> None:
        self.broker.sleepers.discard(self._awake)  # dramatiq closes twice after an error
        with suppress(ConnectionClosed, RedisError):  # an error here would end dramatiq's thread
            self._exchange(room=0)

    def _exchange(self, *, room: int | None = None) -> bool:
        """Acknowledge what is done and fetch as many as there is room for."""
        if room is None:
            room = max(0, self.prefetch - self.outstanding_message_count)
        done = list(self._done)
        try:
            self.message_cache += self.broker.exchange(self.queue_name, done, room=room)
        except (RedisConnectionError, RedisTimeoutError) as error:
            raise ConnectionClosed(error) from None
        for message_id in done:  # only now: the next consumer tells what this one could not
            with suppress(ValueError):  # told by a consumer that a stop closed meanwhile
                self._done.remove(message_id)
        return room > 0


class LaneBroker(RedisBroker):
    """dramatiq's Redis broker, whose consumers can be woken.

    Attributes:
        sleepers: one event for each consumer.
        done: ids of messages that are to be acknowledged, by queue.
    """

    def __init__(self, client: "redis.Redis") -> None:
        super().__init__(
            client=client,
            middleware=[],
            heartbeat_timeout=HEARTBEAT_TIMEOUT_MS,
            maintenance_chance=MAINTENANCE_PER_MILLION,
            dead_message_ttl=DEAD_MESSAGE_TTL_MS,
        )
        self.sleepers: set[threading.Event] = set()
        self.done: dict[str, deque[str]] = {}

    @property
    def consumer_class(self) -> type[_WakefulConsumer]:
        """What ``consume`` makes; dramatiq's own seam."""
        return _WakefulConsumer

    def exchange(self, queue_name: str, done: Sequence[str], *, room: int) -> list[bytes]:
        """Acknowledge messages and fetch up to ``room`` others, in one round trip.

        Raises:
            redis.exceptions.RedisError: what redis-py raises; repeat, acknowledging twice does no harm.
        """
        calls = [self._call_of("ack", queue_name, message_id) for message_id in done]
        if room:
            calls.append(self._call_of("fetch", queue_name, room))
        if not calls:
            return []
        try:
            replies = self._run(calls)
        except NoScriptError:  # nothing was fetched: a new server knows none of them
            self.client.script_load(self.scripts["dispatch"].script)
            replies = self._run(calls)
        return list(replies[-1]) if room else []

    def _run(self, calls: Sequence[tuple[Any, ...]]) -> list[Any]:
        with self.client.pipeline(transaction=False) as pipe:
            for call in calls:
                pipe.execute_command("EVALSHA", self.scripts["dispatch"].sha, 1, self.namespace, *call)
            return list(pipe.execute())

    def _call_of(self, command: str, queue_name: str, argument: str | int) -> tuple[Any, ...]:
        """Arguments of dramatiq's one script, as its broker's own calls have them."""
        facts = (current_millis(), queue_name, self.broker_id, self.heartbeat_timeout, self.dead_message_ttl)
        return command, *facts, self._should_do_maintenance(command), self._max_unpack_size(), argument

    def wake(self) -> None:
        """Let all consumers fetch now."""
        for sleeper in tuple(self.sleepers):
            sleeper.set()


def open_broker(settings: Settings) -> LaneBroker:
    """Make the broker. Web and workers must use the same values: each caller applies its own.

    Raises:
        ConfigError: no Redis is configured.
    """
    return LaneBroker(connect(settings.broker, timeout_s=BROKER_TIMEOUT_S, retries=0, text=False))


def queue_key(broker: LaneBroker, queue: str) -> str:
    """The list in which dramatiq keeps a queue's message ids, oldest first; undocumented."""
    return f"{broker.namespace}:{queue}"


class Doorbell:
    """Tells the workers that a lane has work. A lost ring is made good by the sweeper."""

    def __init__(self, broker: LaneBroker, client: "redis.Redis") -> None:
        """Bind both ends.

        Args:
            client: of the state database; consumers are woken through its server.
        """
        self._broker = broker
        self._redis = client

    def ring(self, workspace: WorkspaceId, stamp_ms: int) -> None:
        """Ring for a lane; never fails.

        Args:
            stamp_ms: Redis time of the script that asked for the ring.
        """
        self._ring(workspace, stamp_ms, passes=0)

    def pass_on(self, workspace: WorkspaceId, stamp_ms: int, *, passes: int) -> None:
        """Ring again, soon and from another thread, for a lane that this worker doesn't serve.

        Each time later, so that a lane that nobody serves costs little, and in the end nothing.

        Args:
            passes: how often this ring has been passed on already.
        """
        if passes >= len(PASS_DELAYS_MS):
            self._note_unserved(workspace)
            return
        # not dramatiq's delay, which costs two more writes, and keeps time by the second
        timer = threading.Timer(
            PASS_DELAYS_MS[passes] / 1000, self._ring, (workspace, stamp_ms), {"passes": passes + 1}
        )
        timer.daemon = True
        timer.start()

    def _note_unserved(self, workspace: WorkspaceId) -> None:
        """Take a lane that nobody seems to serve off the list of those that wait for want of workers."""
        with suppress(StorageUnavailable), storage_errors():
            self._redis.zrem(LaneKeys(workspace).partition.wait, workspace)

    def _ring(self, workspace: WorkspaceId, stamp_ms: int, *, passes: int) -> None:
        kwargs = {"passes": passes} if passes else {}  # a first ring has the shape that all versions know
        message: dramatiq.Message[None] = dramatiq.Message(
            queue_name=QUEUE, actor_name=ACTOR, args=(workspace, stamp_ms), kwargs=kwargs, options={}
        )
        try:
            with storage_errors():
                self._broker.enqueue(message)
                self._redis.publish(DOORBELL_CHANNEL, workspace)
        except (StorageUnavailable, StorageFull, DramatiqError) as error:
            _log.warning("doorbell_lost", workspace=workspace, reason=str(error))

    def waiting(self) -> int:
        """Number of rings that no worker has taken yet.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors():
            # dramatiq's own count is a script that writes: with fsync always it would wait for the disk
            return int(self._broker.client.llen(queue_key(self._broker, QUEUE)))
