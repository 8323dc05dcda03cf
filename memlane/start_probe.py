"""Whether a service that is being started serves already."""

import http.client
from contextlib import closing
from urllib.parse import urlsplit

from events.connect import connect
from events.errors import StorageUnavailable
from jobs.registry import WorkerRegistry

_PROBE_LIMIT_S = 0.5
_REDIS_LIMIT_S = 1.0


class StartProbe:
    """Ready means: a worker has registered since the probe was made, and the web says it is up."""

    def __init__(self, url: str, redis_url: str) -> None:
        """Note which workers there are already.

        Raises:
            StorageUnavailable: Redis gave no answer, so an old worker could be taken for ours.
        """
        self._address = urlsplit(url).netloc
        self._redis_url = redis_url
        self._former_workers = self._workers()

    def __call__(self) -> bool:
        """Look once; whatever gives no answer is not ready."""
        try:
            return bool(self._workers() - self._former_workers) and self._web_is_up()
        except StorageUnavailable:
            return False

    def _workers(self) -> set[str]:
        with closing(connect(self._redis_url, timeout_s=_REDIS_LIMIT_S)) as client:
            return WorkerRegistry(client).live_ids()

    def _web_is_up(self) -> bool:
        with closing(http.client.HTTPConnection(self._address, timeout=_PROBE_LIMIT_S)) as connection:
            try:
                connection.request("GET", "/health/ready")
                return connection.getresponse().status == http.client.OK
            except (OSError, http.client.HTTPException):
                return False
