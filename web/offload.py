"""Work that would hold up every other connection, such as reading many files."""

from collections.abc import Callable
from typing import TypeVar

import gevent

Result = TypeVar("Result")


def offload(work: Callable[[], Result]) -> Result:
    """Run ``work`` on a thread of its own while this greenlet waits; its errors come through."""
    answer: Result = gevent.get_hub().threadpool.apply(work)
    return answer
