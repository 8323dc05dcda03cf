"""What all calls have in common."""

from collections.abc import AsyncGenerator
from typing import TypeVar

from memlane.addresses import continued
from memlane.answers import parsed
from memlane.asynchronous.transport import Transport
from memlane.models import Page, Task
from memlane.request import Request, reading

_P = TypeVar("_P", bound=Page)


class Caller:
    """Calls of one kind, over a transport that is shared."""

    def __init__(self, transport: Transport) -> None:
        """Send nothing yet."""
        self._transport = transport

    async def _task(self, request: Request) -> Task:
        """The task that a request answers with."""
        return parsed(Task, await self._transport.send(request))

    async def _pages(self, kind: type[_P], path: str) -> AsyncGenerator[_P]:
        """The pages of a listing, each fetched when it is needed."""
        page = parsed(kind, await self._transport.send(reading(path)))
        yield page
        while page.following:
            page = parsed(kind, await self._transport.send(reading(continued(path, page.following))))
            yield page
