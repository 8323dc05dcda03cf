"""What one process knows of one workspace's log: its newest events, shared by all readers."""

import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from core.clock import boot_ms
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


class Seat:
    """One reader's place at a feed: where it waits, and what it is woken by alone."""

    def __init__(self, feed: "Feed", lock: threading.Lock) -> None:
        self.feed = feed
        self._lock = lock
        # taken while there is no reason to wake; a condition would cost each event twice the time
        self._bell = threading.Lock()
        self._bell.acquire()
        self._interrupted = False

    def wait(self, *, after: int, epoch: str, timeout_s: float, seen: Aside | None = None) -> None:
        """Sleep until there is something after ``after``, another epoch, an interruption, or the time is up.

        Args:
            seen: the last aside that the reader got; another one at its place is something, too.
        """
        until_ms = boot_ms() + timeout_s * 1000
        while not self._interrupted and not self.feed.has_news(after=after, epoch=epoch, seen=seen):
            left_s = (until_ms - boot_ms()) / 1000
            if left_s <= 0 or not self._bell.acquire(timeout=left_s):
                break
        self._interrupted = False

    def interrupt(self) -> None:
        """End the reader's wait, or its next one; for other threads."""
        with self._lock:
            self._interrupted = True
            self.wake()

    def wake(self) -> None:
        """Have the reader look at the feed; the caller holds its lock, so that no two ring at a time."""
        if self._bell.locked():
            self._bell.release()


class Feed:
    """A ring of the newest events and a way to wait for more.

    Readers keep a cursor and take what lies beyond it, so a slow one costs the others nothing
    and no reader needs a queue of its own.

    Attributes:
        aside: the newest event that is in no log; None before the first.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seats: set[Seat] = set()
        self._ring: deque[_Kept] = deque(maxlen=RING_SIZE)
        self._end = 0
        self._closed = False
        self.epoch = ""
        self.last_id = 0
        self.aside: Aside | None = None

    @property
    def has_readers(self) -> bool:
        """Whether anybody wants this feed kept up to date."""
        return bool(self._seats)

    @property
    def is_aligned(self) -> bool:
        """Whether the feed knows where its log stands."""
        return self.epoch != ""

    def join(self) -> Seat:
        """Give one more reader its seat."""
        seat = Seat(self, self._lock)
        with self._lock:
            self._seats.add(seat)
        return seat

    def leave(self, seat: Seat) -> None:
        """Take a reader's seat away, may be repeated; the last one takes the ring with it."""
        with self._lock:
            self._seats.discard(seat)
            if not self._seats:
                self._ring.clear()
                self.epoch = ""
                self.aside = None

    def align(self, state: LogState) -> bool:
        """Start at the log's end when nothing is known of it, or anew when its epoch changed.

        Returns:
            Whether the feed started anew.
        """
        with self._lock:
            if self.epoch == state.epoch:
                return False
            self._ring.clear()
            self.epoch, self.last_id = state.epoch, state.last_id
            self._wake_all()
            return True

    def extend(self, envelopes: Iterable[Envelope]) -> None:
        """Add events read from the log, oldest first, and wake the readers."""
        with self._lock:
            for envelope in envelopes:
                if envelope.id is not None and envelope.id > self.last_id:
                    self._keep(envelope)
                    self.last_id = envelope.id
            self._wake_all()

    def note(self, aside: Aside) -> None:
        """Show an event that is in no log to readers who are at its place, in the stead of the one before."""
        with self._lock:
            if self._seats:
                self.aside = aside
                self._wake_all()

    def close(self) -> None:
        """Wake everybody for good."""
        with self._lock:
            self._closed = True
            self._wake_all()

    def has_news(self, *, after: int, epoch: str, seen: Aside | None) -> bool:
        """Whether a reader at ``after`` need not wait; see ``Seat.wait``."""
        is_past = self.last_id > after or self.epoch != epoch
        return self._closed or is_past or self.find_aside(at=after, seen=seen) is not None

    def find_aside(self, *, at: int, seen: Aside | None) -> Aside | None:
        """The newest aside, if it is not ``seen`` and belongs right after the event ``at``."""
        aside = self.aside
        return aside if aside is not None and aside is not seen and aside.place == at else None

    def find_after(self, after: int) -> Envelope | None:
        """The oldest event after ``after``, if the ring still reaches back that far."""
        with self._lock:
            if not self._ring or self._ring[0].id > after + 1:
                return None
            newest = self._ring[-1]  # what most readers are up to
            if newest.id == after + 1:
                return newest.envelope
            position = self._position_after(after)
            return self._ring[position].envelope if position < len(self._ring) else None

    def bytes_after(self, after: int) -> int:
        """Bytes of payload in all events after ``after``, as far as the ring reaches back."""
        with self._lock:
            position = self._position_after(after)
            return self._end - self._ring[position].start if position < len(self._ring) else 0

    def _wake_all(self) -> None:
        for seat in self._seats:
            seat.wake()

    def _position_after(self, after: int) -> int:
        return bisect_right(self._ring, after, key=lambda kept: kept.id)

    def _keep(self, envelope: Envelope) -> None:
        self._ring.append(_Kept(envelope, self._end))
        self._end += envelope.size_bytes
        while len(self._ring) > 1 and self._end - self._ring[1].start >= RING_BYTES:
            self._ring.popleft()
