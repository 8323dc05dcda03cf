"""Medians, percentiles, ratios: what a report says of many measurements."""

import math
from collections.abc import Sequence
from statistics import median


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least ``percent`` of all values do not exceed (nearest rank).

    Args:
        percent: over 0 up to 100.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("there are no values")
    rank = math.ceil(len(values) * percent / 100)
    return sorted(values)[max(rank, 1) - 1]


def spread(values: Sequence[float]) -> str:
    """Median with least and greatest value, the range by an en dash; a dash without values."""
    if not values:
        return "-"
    return f"{short(median(values))} ({short(min(values))}\N{EN DASH}{short(max(values))})"


def ratio(values: Sequence[float], alternative: Sequence[float]) -> str:
    """How the medians relate, ``1.05``; a dash when one is missing or the alternative's is zero."""
    if not values or not alternative or not median(alternative):
        return "-"
    return f"{median(values) / median(alternative):.2f}"


def short(value: float) -> str:
    """A number with about three digits that count."""
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
