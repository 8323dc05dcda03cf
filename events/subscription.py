"""One reader's way through a workspace's log: replay first, then live."""

from collections import deque
from types import TracebackType
from typing import Self

from core.ids import WorkspaceId
from events import kinds
from events.envelope import Aside, Envelope, control
from events.errors import SubscriptionEvicted
from events.feed import RING_BYTES, Seat
from events.log import EventLog, LogState

MAX_LAG = 256  # events a reader may be behind before it is sent away, unless it asks for another limit
LAG_LIMITS = range(16, 2048 + 1)  # what it may ask for
MAX_LAG_BYTES = RING_BYTES  # a reader that the ring left behind for its bytes is over the limit, too
WARN_SHARE = 0.75  # of either limit
CALM_SHARE = 0.25  # below it a further warning is due


class Subscription:
    """A cursor in a workspace's log. Not for use by two threads at once.

    Attributes:
        epoch: uuid of the log that the ids belong to.
        is_evicted: whether it fell too far behind; ``client_evicted`` is the last event that ``next`` gives.
    """

    def __init__(
        self, log: EventLog, seat: Seat, workspace: WorkspaceId, *, state: LogState, max_lag: int
    ) -> None:
        self._log = log
        self._seat = seat
        self._feed = seat.feed
        self._workspace = workspace
        self._max_lag = max_lag
        self._cursor = state.last_id
        self._replay_to: int | None = None
        self._replayed = 0
        self._ready: deque[Envelope] = deque()
        self._warned = False
        self.is_evicted = False
        self._seen: Aside | None = self._feed.aside
        self.epoch = state.epoch

    def replay(self, after: int, *, epoch: str | None, state: LogState) -> None:
        """Go back to ``after``; what the log no longer has is announced before what it has."""
        self._cursor, self._replay_to = after, state.last_id
        mismatch = epoch is not None and epoch != state.epoch
        if mismatch or after > state.last_id:
            self._resync("epoch_reset", state, detail="epoch_mismatch" if mismatch else None)
        elif after < state.first_id - 1:
            self._resync("ring_evicted", state)

    def next(self, timeout_s: float) -> Envelope | None:
        """Give the next event, waiting for one at most ``timeout_s`` seconds; None when there was none.

        An interruption ends the wait early.

        Raises:
            SubscriptionEvicted: the reader fell too far behind; ``client_evicted`` was its last event.
            StorageUnavailable: the log could not be read; the cursor has not moved, call again.
        """
        if self._ready:
            return self._ready.popleft()
        if self.is_evicted:
            raise SubscriptionEvicted("the reader was too slow")
        if self._replay_to is not None:
            return self._next_replayed()
        return self._next_live(timeout_s)

    def interrupt(self) -> None:
        """Let ``next`` return soon, on behalf of another thread; the one method that it may call."""
        self._seat.interrupt()

    def close(self) -> None:
        """Give the place up; may be repeated."""
        self._feed.leave(self._seat)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _next_replayed(self) -> Envelope | None:
        target = self._replay_to or 0
        page = self._read_on() if self._cursor < target else []
        page = [envelope for envelope in page if (envelope.id or 0) <= target]
        if page:
            self._cursor = page[-1].id or self._cursor
            self._replayed += len(page)
            self._ready.extend(page)
        elif not self._ready:
            self._finish_replay()
        return self._ready.popleft()

    def _finish_replay(self) -> None:
        data = {"lastReplayedEventId": self._cursor, "lastEventId": self._replay_to} if self._replayed else {}
        self._ready.append(control(kinds.REPLAY_COMPLETE, {**data, "replayedCount": self._replayed}))
        self._replay_to = None

    def _next_live(self, timeout_s: float) -> Envelope | None:
        self._seat.wait(after=self._cursor, epoch=self.epoch, timeout_s=timeout_s, seen=self._seen)
        if self._feed.epoch != self.epoch:
            self._start_over()
            return self._ready.popleft()
        return self._take_notice() or self._take_aside() or self._take()

    def _take_notice(self) -> Envelope | None:
        lag = self._feed.last_id - self._cursor
        # the next event is what a reader waits for, however large; what queues up behind it is its lag
        lag_bytes = self._feed.bytes_after(self._cursor + 1) if lag > 1 else 0
        share = max(lag / self._max_lag, lag_bytes / MAX_LAG_BYTES)
        if share >= 1:
            self.is_evicted = True
            return control(
                kinds.CLIENT_EVICTED, {"reason": "queue_overflow", "lag": lag, "lagBytes": lag_bytes}
            )
        if share >= WARN_SHARE and not self._warned:
            self._warned = True
            return control(kinds.SLOW_CLIENT_WARNING, self._queue(lag, lag_bytes))
        self._warned = self._warned and share > CALM_SHARE
        return None

    def _queue(self, lag: int, lag_bytes: int) -> dict[str, int]:
        limits = {"maxQueued": self._max_lag, "maxQueuedBytes": MAX_LAG_BYTES}
        return {"queueSize": lag, "queueBytes": lag_bytes, **limits}

    def _take_aside(self) -> Envelope | None:
        aside = self._feed.find_aside(at=self._cursor, seen=self._seen)
        if aside is None:
            return None
        self._seen = aside
        return aside.envelope

    def _take(self) -> Envelope | None:
        if self._feed.last_id <= self._cursor:
            return None
        envelope = self._feed.find_after(self._cursor)
        if envelope is not None:
            self._cursor = envelope.id or self._cursor
            return envelope
        page = self._read_on()
        if page:
            self._cursor = page[-1].id or self._cursor
            self._ready.extend(page)
        return self._ready.popleft() if self._ready else None

    def _read_on(self) -> list[Envelope]:
        """Read the log's next page; nothing but a notice in ``_ready`` when the log has lost its start."""
        page = self._log.read(self._workspace, after=self._cursor)
        if page and (page[0].id or 0) > self._cursor + 1:
            state = self._log.state(self._workspace)
            if state.first_id > self._cursor + 1:  # else numbers were skipped by a failover
                self._resync("ring_evicted", state)
                return []
        return page

    def _start_over(self) -> None:
        state = self._log.state(self._workspace)
        self.epoch, self._replay_to, self._replayed = state.epoch, state.last_id, 0
        self._resync("epoch_reset", state)

    def _resync(self, reason: str, state: LogState, *, detail: str | None = None) -> None:
        data = {
            "reason": reason,
            **({"detail": detail} if detail else {}),
            "lastDeliveredId": self._cursor,
            "earliestAvailableId": state.first_id,
        }
        self._ready.append(control(kinds.STATE_RESYNC_REQUIRED, data))
        self._cursor = state.first_id - 1
