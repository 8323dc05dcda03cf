"""Spares the garbage collector what lives as long as the process."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collection_paused() -> Iterator[None]:
    """Import in the block: nothing is collected meanwhile, and what was made is never looked at again.

    Imports make many objects and no garbage to speak of, and the collector would walk through all of them
    again and again: a tenth of an agent child's start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
