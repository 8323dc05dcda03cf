"""Work that would hold up every other connection, such as reading many files."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import gevent

from core.errors import MemlaneError

Result = TypeVar("Result")


def offload(work: Callable[[], Result]) -> Result:
    """Run ``work`` on a thread of its own while this greenlet waits; its errors come through."""
    outcome: Result | _Refused = gevent.get_hub().threadpool.apply(_attempt, (work,))
    if isinstance(outcome, _Refused):
        raise outcome.error
    return outcome


@dataclass(frozen=True, slots=True)
class _Refused:
    error: MemlaneError


def _attempt(work: Callable[[], Result]) -> Result | _Refused:
    try:
        return work()
    except MemlaneError as error:
        return _Refused(error)  # gevent writes the traceback of what a thread raises to stderr
