"""The clock of all measurements. Standard library only: peers run it in an environment of their own."""

import time


def now_ns() -> int:
    """Nanoseconds of CLOCK_MONOTONIC, which all processes share; milliseconds would be too coarse."""
    return time.monotonic_ns()
