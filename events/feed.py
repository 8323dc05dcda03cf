"""What one process knows of one workspace's log: its newest events, shared by all readers."""

import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable

from events.envelope import Envelope
from events.log import LogState

RING_SIZE = 512


class Feed:
    """A ring of the newest events and a way to wait for more.

    Readers keep a cursor and take what lies beyond it, so a slow one costs the others nothing
    and no reader needs a queue of its own.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ring: deque[Envelope] = deque(maxlen=RING_SIZE)
        self._readers = 0
        self._closed = False
        self.epoch = ""
        self.last_id = 0

    @property
    def has_readers(self) -> bool:
        """Whether anybody wants this feed kept up to date."""
        return self._readers > 0

    @property
    def is_aligned(self) -> bool:
        """Whether the feed knows where its log stands."""
        return self.epoch != ""

    def join(self) -> None:
        """Count one reader in."""
        with self._changed:
            self._readers += 1

    def leave(self) -> None:
        """Count one reader out; the last one takes the ring with it."""
        with self._changed:
            self._readers -= 1
            if not self._readers:
                self._ring.clear()
                self.epoch = ""

    def align(self, state: LogState) -> bool:
        """Start at the log's end when nothing is known of it, or anew when its epoch changed.

        Returns:
            Whether the feed started anew.
        """
        with self._changed:
            if self.epoch == state.epoch:
                return False
            self._ring.clear()
            self.epoch, self.last_id = state.epoch, state.last_id
            self._changed.notify_all()
            return True

    def extend(self, envelopes: Iterable[Envelope]) -> None:
        """Add events read from the log, oldest first, and wake the readers."""
        with self._changed:
            for envelope in envelopes:
                if envelope.id is not None and envelope.id > self.last_id:
                    self._ring.append(envelope)
                    self.last_id = envelope.id
            self._changed.notify_all()

    def close(self) -> None:
        """Wake everybody for good."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def wait(self, *, after: int, epoch: str, timeout_s: float) -> None:
        """Sleep until there is something after ``after``, another epoch, or the time is up."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closed or self.last_id > after or self.epoch != epoch, timeout=timeout_s
            )

    def find_after(self, after: int) -> Envelope | None:
        """The oldest event after ``after``, if the ring still reaches back that far."""
        with self._changed:
            if not self._ring or (self._ring[0].id or 0) > after + 1:
                return None
            position = bisect_right(self._ring, after, key=lambda envelope: envelope.id or 0)
            return self._ring[position] if position < len(self._ring) else None
