"""Waiting for facts that announce themselves in no other way."""

import threading
from collections.abc import Callable

from core.clock import boot_ms

_never = threading.Event()


def until(condition: Callable[[], object], *, limit_s: float = 20.0) -> None:
    """Look every 10 ms until ``condition`` holds; fail after ``limit_s`` seconds."""
    deadline_ms = boot_ms() + limit_s * 1000
    while not condition():
        assert boot_ms() < deadline_ms, f"{condition} did not come true within {limit_s} s"
        _never.wait(0.01)
