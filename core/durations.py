"""Lengths of time as people write them."""

import re
from datetime import timedelta

_DURATION = re.compile(r"(\d{1,9})([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def parse_duration(text: str) -> timedelta | None:
    """Read a number and its unit, such as ``90d`` (``s``, ``m``, ``h`` or ``d``); None for anything else."""
    match = _DURATION.fullmatch(text)
    return timedelta(seconds=int(match[1]) * _SECONDS[match[2]]) if match else None
