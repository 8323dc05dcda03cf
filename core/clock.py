"""The only place that reads clocks."""

import time
from datetime import UTC, datetime


def wall_ms() -> int:
    """Milliseconds since the Unix epoch; for display and records, never for deadlines."""
    return time.time_ns() // 1_000_000


def boot_ms() -> int:
    """Milliseconds since boot, counting suspend; the clock of every local deadline."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def rfc3339(ms: int) -> str:
    """Format epoch milliseconds as RFC 3339 UTC with milliseconds and ``Z``."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1000:03d}Z"


def today() -> str:
    """Today's date in UTC as ``YYYY-MM-DD``."""
    return datetime.now(UTC).date().isoformat()
