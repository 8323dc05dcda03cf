"""Keeps the leases of one worker process alive."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from core.logs import get_logger
from events.errors import StorageUnavailable
from jobs.lanes import Lanes, Lease

RETRY_S = 0.25

_log = get_logger(__name__)


class Keeper:
    """One thread that renews all leases of the process in one round trip per tick.

    A renewal that gets no answer is retried every 250 ms. A lease is given up only when Redis says
    that it is lost: until then nobody else can have committed under a newer fence.
    """

    def __init__(self, lanes: Lanes, *, renew_ms: int) -> None:
        """Start the thread.

        Args:
            lanes: on a Redis connection that nobody else waits on.
        """
        self._lanes = lanes
        self._period_s = renew_ms / 1000
        self._held: dict[Lease, Callable[[], None]] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease-keeper", daemon=True)
        self._thread.start()

    @contextmanager
    def holding(self, lease: Lease, *, on_lost: Callable[[], None]) -> Iterator[None]:
        """Renew the lease for the length of the body.

        Args:
            on_lost: called once, from the keeper's thread, when the lease is lost; must not block.
        """
        with self._lock:
            self._held[lease] = on_lost
        try:
            yield
        finally:
            with self._lock:
                self._held.pop(lease, None)

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop renewing; leases still held run out by themselves."""
        self._stop.set()
        self._thread.join()

    def _keep(self) -> None:
        pause_s = self._period_s
        while not self._stop.wait(pause_s):
            try:
                self._renew_all()
                pause_s = self._period_s
            except StorageUnavailable as error:
                _log.warning("lease_renewal_failed", reason=str(error))
                pause_s = min(RETRY_S, self._period_s)

    def _renew_all(self) -> None:
        with self._lock:
            leases = list(self._held)
        if not leases:
            return
        for lease, kept in zip(leases, self._lanes.renew(leases), strict=True):
            if not kept:
                self._give_up(lease)

    def _give_up(self, lease: Lease) -> None:
        with self._lock:
            on_lost = self._held.pop(lease, None)
        if on_lost is not None:  # else the run ended while we asked
            _log.warning("lease_lost", workspace=lease.workspace, fence=lease.fence)
            on_lost()
