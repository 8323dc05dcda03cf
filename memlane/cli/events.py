"""The work of ``memlane events``."""

import json
import os
import sys

from memlane.cli.connection import Place, connected
from memlane.cli.exits import Exit
from memlane.cli.task_output import printable
from memlane.models import Event


def run(place: Place, *, after: int | None, as_json: bool) -> Exit:
    """Print events until interrupted, or until nobody reads any more.

    Raises:
        MemlaneApiError: the service refused.
        Unreachable: the first connection failed; later ones are tried again for ever.
        ConfigError: the token or the URL can't be used.
    """
    with connected(place) as client:
        try:
            for event in client.events(last_event_id=after, workspace=place.workspace):
                sys.stdout.write((event.to_json() if as_json else _line(event)) + "\n")
                sys.stdout.flush()
        except BrokenPipeError:
            # what is still buffered would raise again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return Exit.OK


def _line(event: Event) -> str:
    time = "" if event.at is None else f"{event.at.astimezone():%H:%M:%S} "
    number = "-" if event.id is None else str(event.id)
    facts = " ".join(f"{name}={_text(value)}" for name, value in event.data.items())
    return printable(f"{time}{number} {event.type} {facts}".rstrip())


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
