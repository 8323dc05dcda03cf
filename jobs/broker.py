"""dramatiq as the engine: a doorbell queue whose messages carry no content."""

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.errors import DramatiqError

from core.ids import WorkspaceId
from core.logs import get_logger
from core.settings import Settings
from events.connect import connect, storage_errors
from events.errors import StorageFull, StorageUnavailable

QUEUE = "lanes"
ACTOR = "run_lane"

HEARTBEAT_TIMEOUT_MS = 60_000
MAINTENANCE_PER_MILLION = 100_000
DEAD_MESSAGE_TTL_MS = 3_600_000

_log = get_logger(__name__)


def open_broker(settings: Settings) -> RedisBroker:
    """Make the broker. Web and workers must use the same values: each caller applies its own.

    Raises:
        ConfigError: no Redis is configured.
    """
    return RedisBroker(  # type: ignore[no-untyped-call]  # dramatiq leaves it untyped
        client=connect(settings.broker, retries=0, text=False),
        middleware=[],
        heartbeat_timeout=HEARTBEAT_TIMEOUT_MS,
        maintenance_chance=MAINTENANCE_PER_MILLION,
        dead_message_ttl=DEAD_MESSAGE_TTL_MS,
    )


class Doorbell:
    """Tells the workers that a lane has work. A lost ring is made good by the sweeper."""

    def __init__(self, broker: RedisBroker) -> None:
        self._broker = broker

    def ring(self, workspace: WorkspaceId, stamp_ms: int) -> None:
        """Ring for a lane; never fails.

        Args:
            stamp_ms: Redis time of the script that asked for the ring.
        """
        message: dramatiq.Message[None] = dramatiq.Message(
            queue_name=QUEUE, actor_name=ACTOR, args=(workspace, stamp_ms), kwargs={}, options={}
        )
        try:
            with storage_errors():
                self._broker.enqueue(message)
        except (StorageUnavailable, StorageFull, DramatiqError) as error:
            _log.warning("doorbell_lost", workspace=workspace, reason=str(error))

    def waiting(self) -> int:
        """Number of rings that no worker has taken yet.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        with storage_errors():
            return int(self._broker.do_qsize(QUEUE))
