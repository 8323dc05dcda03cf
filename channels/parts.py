"""What a channel is handed from outside."""

from dataclasses import dataclass, field
from pathlib import Path

from channels.gating import Pairing
from channels.ledger import TurnLedger
from channels.memory_lane import ChatMemory
from channels.outbox import Outbox
from channels.routes import RouteStore
from channels.timers import LoopTimers, Timers
from channels.volatile import VolatileLedger, VolatileOutbox, VolatileRoutes

TURN_LIMIT_MS = 600_000
GRACE_S = 2.0


@dataclass(frozen=True, slots=True)
class ChannelParts:
    """What one channel works with; what is not given lives as long as the process.

    Attributes:
        memory: what is remembered; None where nobody is told.
        files: absolute path of the folder for what comes with messages; None where nothing is saved.
        turn_limit_ms: how long a turn may take, milliseconds.
        grace_s: how long a channel that is closed waits for storage, and for its adapter's hooks, seconds.
    """

    pairing: Pairing
    ledger: TurnLedger = field(default_factory=VolatileLedger)
    outbox: Outbox = field(default_factory=VolatileOutbox)
    routes: RouteStore = field(default_factory=VolatileRoutes)
    memory: ChatMemory | None = None
    files: Path | None = None
    timers: Timers = field(default_factory=LoopTimers)
    turn_limit_ms: int = TURN_LIMIT_MS
    grace_s: float = GRACE_S
