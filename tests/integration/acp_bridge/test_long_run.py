"""Many tasks over one warm child, or over a foreign one and ours beside it."""

import gc
import json
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.child_processes import open_descriptors

TELLS = json.dumps({"params": {"taskId": "remember-1", "turn": 1}, "times": 2})


@contextmanager
def traced() -> Iterator[None]:
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()


def used() -> tuple[int, int, int]:
    """Bytes that are allocated and not free, open descriptors, threads."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0], open_descriptors(), threading.active_count()


@pytest.mark.parametrize(("behaviour", "children"), [("TellsProgress", 1), ("ForeignTellsProgress", 2)])
def test_a_thousand_tasks_leave_no_memory_no_descriptor_and_no_thread(open_desk, behaviour, children):
    desk = open_desk(behaviour)
    with traced():
        for _ in range(100):
            desk.remember(TELLS)
        before = used()
        for _ in range(900):
            desk.remember(TELLS)
        after = used()

    assert len(desk.pids()) == children
    assert after[0] - before[0] < 900 * 20
    assert after[1:] == before[1:]
