# Made from memlane/asynchronous/caller.py by ./dev fmt; change that.
"""What all calls have in common."""

from collections.abc import Generator
from typing import TypeVar

from memlane.addresses import continued
from memlane.answers import parsed
from memlane.models import Page, Task
from memlane.request import Request, reading
from memlane.synchronous.transport import Transport

_P = TypeVar("_P", bound=Page)


class Caller:
    """Calls of one kind, over a transport that is shared."""

    def __init__(self, transport: Transport) -> None:
        """Send nothing yet."""
        self._transport = transport

    def _task(self, request: Request) -> Task:
        """The task that a request answers with."""
        return parsed(Task, self._transport.send(request))

    def _pages(self, kind: type[_P], path: str) -> Generator[_P]:
        """The pages of a listing, each fetched when it is needed."""
        page = parsed(kind, self._transport.send(reading(path)))
        yield page
        while page.following:
            page = parsed(kind, self._transport.send(reading(continued(path, page.following))))
            yield page
