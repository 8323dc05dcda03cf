# Made from memlane/asynchronous/caller.py by ./dev fmt; change that.
"""What all calls have in common."""

from memlane.answers import parsed
from memlane.models import Task
from memlane.request import Request
from memlane.synchronous.transport import Transport


class Caller:
    """Calls of one kind, over a transport that is shared."""

    def __init__(self, transport: Transport) -> None:
        """Send nothing yet."""
        self._transport = transport

    def _task(self, request: Request) -> Task:
        """The task that a request answers with."""
        return parsed(Task, self._transport.send(request))
