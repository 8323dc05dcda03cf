"""Keeps the leases of one worker process alive."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from core.errors import DependencyError
from core.logs import get_logger
from jobs.lanes import Lanes, Lease
from jobs.tasks import Fence

RETRY_S = 0.25
JOIN_S = 5.0

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reactions:
    """What a holder does about its lease; called from the keeper's thread, must not block.

    Attributes:
        lost: the lease is lost for good. Called once; tells whether the holder was still at work.
        cancel: the task is to be cancelled. Called with every renewal that says so.
        kept: the lease was extended just now.
    """

    lost: Callable[[], bool]
    cancel: Callable[[], object]
    kept: Callable[[], None]


class Held:
    """A lease that the keeper renews."""

    def __init__(self, lease: Lease, reactions: Reactions) -> None:
        self.lease = lease
        self.reactions = reactions

    def take_fence(self, fence: Fence) -> None:
        """Go on under another fence."""
        self.lease = replace(self.lease, fence=fence)


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
        self._held: list[Held] = []
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="lease-keeper", daemon=True)
        self._thread.start()

    @contextmanager
    def holding(self, lease: Lease, reactions: Reactions) -> Iterator[Held]:
        """Renew the lease for the length of the body."""
        held = Held(lease, reactions)
        with self._lock:
            self._held.append(held)
        try:
            yield held
        finally:
            self._let_go(held)

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop renewing; leases still held run out by themselves."""
        self._stop.set()
        self._thread.join(JOIN_S)

    def _keep(self) -> None:
        pause_s = self._period_s
        while not self._stop.wait(pause_s):
            try:
                self._renew_all()
                pause_s = self._period_s
            except DependencyError as error:
                _log.warning("lease_renewal_failed", reason=str(error))
                pause_s = min(RETRY_S, self._period_s)

    def _renew_all(self) -> None:
        with self._lock:
            shown = [(held, held.lease) for held in self._held]
        if not shown:
            return
        for (held, lease), renewal in zip(
            shown, self._lanes.renew([lease for _, lease in shown]), strict=True
        ):
            if renewal == "lost":
                self._give_up(held, lease)
            else:
                held.reactions.kept()
            if renewal == "cancel":
                held.reactions.cancel()

    def _give_up(self, held: Held, lease: Lease) -> None:
        # the run may have got another fence while we asked, or have reported its end
        if self._let_go(held, only=lease) and held.reactions.lost():
            _log.warning("lease_lost", workspace=lease.workspace, fence=lease.fence)

    def _let_go(self, held: Held, *, only: Lease | None = None) -> bool:
        with self._lock:
            if held not in self._held or only not in (None, held.lease):
                return False
            self._held.remove(held)
            return True
