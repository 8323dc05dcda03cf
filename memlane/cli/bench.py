"""Finds the benchmarks, which are part of a checkout and not of what is installed."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from core.errors import ConfigError

_CHECKOUT = Path(__file__).parents[2]


class NoBenchmarks(ConfigError):
    """This installation has no benchmarks. The message says how to get them."""

    code = "no_benchmarks"


def run(arguments: Sequence[str], *, checkout: Path = _CHECKOUT) -> None:
    """Become the benchmark that the arguments name; does not return.

    Args:
        checkout: folder that holds ``bench``.

    Raises:
        NoBenchmarks: there are none.
    """
    if not (checkout / "bench" / "__main__.py").is_file():
        raise NoBenchmarks(
            "the benchmarks are not part of an installed memlane; run `./dev bench` in a checkout"
        )
    os.chdir(checkout)
    os.execv(sys.executable, [sys.executable, "-m", "bench", *arguments])  # noqa: S606 - becoming it is the point
