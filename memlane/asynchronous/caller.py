"""What all calls have in common."""

from memlane.answers import parsed
from memlane.asynchronous.transport import Transport
from memlane.models import Task
from memlane.request import Request


class Caller:
    """Calls of one kind, over a transport that is shared."""

    def __init__(self, transport: Transport) -> None:
        """Send nothing yet."""
        self._transport = transport

    async def _task(self, request: Request) -> Task:
        """The task that a request answers with."""
        return parsed(Task, await self._transport.send(request))
