"""What one process knows of one workspace's log: its newest events, shared by all readers."""

import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from events.envelope import Aside, Envelope
from events.log import LogState

RING_SIZE = 512
RING_BYTES = 2 * 1024 * 1024  # of payload; the ring is cut to the newest events that make up this much


@dataclass(frozen=True, slots=True)
class _Kept:
    """An event in the ring; ``start`` counts the bytes of all that were in it before."""

    envelope: Envelope
    start: int

    @property
    def id(self) -> int:
        return self.envelope.id or 0


class Feed:
    """A ring of the newest events and a way to wait for more.

    Readers keep a cursor and take what lies beyond it, so a slow one costs the others nothing
    and no reader needs a queue of its own.

    Attributes:
        aside: the newest event that is in no log; None before the first.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._ring: deque[_Kept] = deque(maxlen=RING_SIZE)
        self._end = 0
        self._readers = 0
        self._closed = False
        self.epoch = ""
        self.last_id = 0
        self.aside: Aside | None = None

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
                self.aside = None

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
                    self._keep(envelope)
                    self.last_id = envelope.id
            self._changed.notify_all()

    def note(self, aside: Aside) -> None:
        """Show an event that is in no log to readers who are at its place, in the stead of the one before."""
        with self._changed:
            if self._readers:
                self.aside = aside
                self._changed.notify_all()

    def close(self) -> None:
        """Wake everybody for good."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def wait(self, *, after: int, epoch: str, timeout_s: float, seen: Aside | None = None) -> None:
        """Sleep until there is something after ``after``, another epoch, or the time is up.

        Args:
            seen: the last aside that the reader got; another one at its place is something, too.
        """

        def has_news() -> bool:
            is_past = self.last_id > after or self.epoch != epoch
            return self._closed or is_past or self.find_aside(at=after, seen=seen) is not None

        with self._changed:
            self._changed.wait_for(has_news, timeout=timeout_s)

    def find_aside(self, *, at: int, seen: Aside | None) -> Aside | None:
        """The newest aside, if it is not ``seen`` and belongs right after the event ``at``."""
        aside = self.aside
        return aside if aside is not None and aside is not seen and aside.place == at else None

    def find_after(self, after: int) -> Envelope | None:
        """The oldest event after ``after``, if the ring still reaches back that far."""
        with self._changed:
            if not self._ring or self._ring[0].id > after + 1:
                return None
            position = self._position_after(after)
            return self._ring[position].envelope if position < len(self._ring) else None

    def bytes_after(self, after: int) -> int:
        """Bytes of payload in all events after ``after``, as far as the ring reaches back."""
        with self._changed:
            position = self._position_after(after)
            return self._end - self._ring[position].start if position < len(self._ring) else 0

    def _position_after(self, after: int) -> int:
        return bisect_right(self._ring, after, key=lambda kept: kept.id)

    def _keep(self, envelope: Envelope) -> None:
        self._ring.append(_Kept(envelope, self._end))
        self._end += envelope.size_bytes
        while len(self._ring) > 1 and self._end - self._ring[1].start >= RING_BYTES:
            self._ring.popleft()
