"""Reads the age of dramatiq's oldest queued doorbell; key names and format are dramatiq's own affair."""

import json
from typing import Any, cast

from dramatiq import Message

from core.logs import get_logger
from events.connect import storage_errors
from jobs.broker import ACTOR, QUEUE, LaneBroker, queue_key

SELF_TEST_QUEUE = f"{QUEUE}-probe"

_log = get_logger(__name__)


class BrokerProbe:
    """Looks at the head of the queue. Trusted only once it has read back what it wrote itself."""

    def __init__(self, broker: LaneBroker) -> None:
        self._broker = broker
        self._trusted: bool | None = None

    def oldest_stamp_ms(self) -> int | None:
        """Stamp of the oldest doorbell that waits, 0 when none does, None when that can't be told.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        if self._trusted is None:
            self._trusted = self._self_test()
        return self._oldest(QUEUE) if self._trusted else None

    def _self_test(self) -> bool:
        with storage_errors():
            self._broker.flush(SELF_TEST_QUEUE)
            empty = self._oldest(SELF_TEST_QUEUE)
            for stamp in (7, 8):
                self._broker.enqueue(
                    Message(
                        queue_name=SELF_TEST_QUEUE, actor_name=ACTOR, args=("w", stamp), kwargs={}, options={}
                    )
                )
            oldest = self._oldest(SELF_TEST_QUEUE)
            self._broker.flush(SELF_TEST_QUEUE)
        trusted = (empty, oldest) == (0, 7)
        if not trusted:
            _log.error("broker_probe_failed", found=oldest)
        return trusted

    def _oldest(self, queue: str) -> int | None:
        with storage_errors():
            name = queue_key(self._broker, queue)
            message_id = cast("Any", self._broker.client.lindex(name, 0))
            if message_id is None:
                return 0
            body = cast("Any", self._broker.client.hget(f"{name}.msgs", message_id))
        try:
            return int(json.loads(body)["args"][1])
        except (TypeError, ValueError, LookupError):
            return None  # fetched in between, or a format that we don't know
