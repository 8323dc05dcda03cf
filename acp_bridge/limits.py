"""Every bound of the bridge, in one record."""

from dataclasses import dataclass

from core import acp
from core.jsonrpc import MAX_FRAME_BYTES

START_ATTEMPTS = 2


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much the bridge bears; the defaults are for production.

    Attributes:
        max_children: warm children kept; the least recently used idle one goes first. Busy ones are never
            stopped, so more may live for as long as they work.
        start_s: from spawning a child to its answer to ``initialize``.
        availability_s: limit of one availability call.
        resolve_s: limit of a resolve call, its process's start included.
        cancel_grace_s: how long a child of ours may take to give up a cancelled task before it is killed.
        foreign_s: most that a foreign child has for a task; ours has what the call says.
        reserve_ms: added to a task's own time, so that a child which gives up in time can say why.
        ping_period_s: pause between liveness pings.
        ping_limit_s: how long a ping may stay unanswered before it counts as missed.
        ping_misses: misses in a row after which the child is killed.
        stop_grace_s: wait after each of the first two steps of a stop.
        settle_s: how long the rest of a dead child's output is waited for.
        kill_s: how long the kernel may take to end a killed child, and again to end the rest of its group.
        guard_ms: how long a child lives on after the last sign of life of a worker that is paused; a dead
            one's is killed at once. Also how long a foreign child may live for a call from when the bridge
            was asked for it, until ``Bridge.extend`` says more.
        first_backoff_s: pause before the start that follows one death; it doubles with each further one.
        max_backoff_s: longest such pause.
        slack_s: what a blocked caller grants the bridge's loop on top of all other limits.
        max_frame_bytes: longest line accepted from a child.
        max_unsent_bytes: most that may wait in memory for a child that doesn't read.
    """

    max_children: int = 16
    start_s: float = 20.0
    availability_s: float = 10.0
    resolve_s: float = 20.0
    cancel_grace_s: float = 1.5
    foreign_s: float = acp.BRIDGE_TIMEOUT_MS / 1000
    reserve_ms: int = acp.RESERVE_MS
    ping_period_s: float = 15.0
    ping_limit_s: float = 10.0
    ping_misses: int = 2
    stop_grace_s: float = 2.0
    settle_s: float = 0.5
    kill_s: float = 5.0
    guard_ms: int = 6_500
    first_backoff_s: float = 0.2
    max_backoff_s: float = 5.0
    slack_s: float = 10.0
    max_frame_bytes: int = MAX_FRAME_BYTES
    max_unsent_bytes: int = MAX_FRAME_BYTES

    @property
    def extend_period_s(self) -> float:
        """Pause between two signs of life to a child's guard, of which it may miss some."""
        return min(1.0, self.guard_ms / 4_000)

    @property
    def longest_end_s(self) -> float:
        """Upper bound of the time from the decision to stop a child to its end."""
        return 2 * (self.stop_grace_s + self.settle_s + self.kill_s)

    @property
    def longest_start_s(self) -> float:
        """Upper bound of the time until a caller has a child or knows that there is none."""
        return START_ATTEMPTS * (self.max_backoff_s + self.start_s + self.longest_end_s)

    def call_bound_s(self, call_s: float) -> float:
        """Upper bound of a blocking call whose own limit is ``call_s``, start and end of a child included."""
        return self.longest_start_s + call_s + self.longest_end_s + self.slack_s
