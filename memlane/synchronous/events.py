# Made from memlane/asynchronous/events.py by ./dev fmt; change that.
"""Following what happens."""

import time
from collections.abc import Generator
from contextlib import closing

from memlane.errors import TryLater, Unavailable, Unreachable
from memlane.models import Event
from memlane.patience import backoff_s
from memlane.position import Position
from memlane.synchronous.transport import Transport

_SILENCE_LIMIT_S = 45.0  # three heartbeats of an event stream
_LONGEST_PAUSE_S = 30.0


def follow(
    transport: Transport,
    path: str,
    *,
    last_event_id: int | None,
    reconnect_s: float,
    last_type: str | None = None,
) -> Generator[Event]:
    """Read a stream's events; a lost connection is resumed where it broke.

    Args:
        last_event_id: id of the last event already seen; None starts with what happens from now on.
        reconnect_s: pause before the stream is asked for again, seconds; longer the more often in vain.
        last_type: an event of this type is the last one; None reads for ever.

    Raises:
        MemlaneApiError: refused.
        Unreachable: the first connection failed; later ones are tried again for ever.
    """
    position = Position(last_event_id)
    while True:
        try:
            with closing(transport.follow(path, position, silence_s=_SILENCE_LIMIT_S)) as events:
                for event in events:
                    yield event
                    if event.type == last_type:
                        return
        except (Unreachable, Unavailable, TryLater):
            if not position.is_connected:
                raise
        position.losses += 1
        time.sleep(backoff_s(position.losses, first_s=reconnect_s, most_s=_LONGEST_PAUSE_S))
