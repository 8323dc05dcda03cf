"""Taking part in a session, which gives a client its id."""

from collections.abc import AsyncGenerator
from types import TracebackType
from typing import Self

from memlane.addresses import segment
from memlane.answers import parsed
from memlane.asynchronous.events import follow
from memlane.asynchronous.transport import Transport
from memlane.models import Event
from memlane.request import removal, signal
from memlane.session_models import Heartbeat, SessionEntry

_CLOSED = "session_closed"


class AsyncSession:
    """A part in a session, as ``attach`` of a client gave it; ``with`` ends the part, not the session.

    Attributes:
        entry: what the service answered.
    """

    def __init__(self, transport: Transport, entry: SessionEntry, *, reconnect_s: float) -> None:
        """Take part already; see ``attach`` of a client."""
        self.entry = entry
        self._transport = transport
        self._reconnect_s = reconnect_s
        self._path = f"/session/{segment(entry.session_id)}"

    def events(self, *, last_event_id: int | None = None) -> AsyncGenerator[Event]:
        """Follow the events of the session's workspace until the session is closed.

        Args:
            last_event_id: id of the last event already seen; None starts with what happens from now on.

        Raises:
            NotFound: there is no such session (any more).
            MemlaneApiError: refused.
            Unreachable: the first connection failed; later ones are tried again for ever.
        """
        return follow(
            self._transport,
            f"{self._path}/events",
            last_event_id=last_event_id,
            reconnect_s=self._reconnect_s,
            last_type=_CLOSED,
        )

    async def heartbeat(self) -> Heartbeat:
        """Keep the session alive; half an hour after the last of its uses it is gone.

        Raises:
            NotFound: there is no such session (any more).
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        answer = await self._transport.send(signal(f"{self._path}/heartbeat", is_repeatable=True))
        return parsed(Heartbeat, answer)

    async def detach(self) -> None:
        """End this part in the session; the client id stays good for a day after its last use.

        Raises:
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        await self._transport.send(signal(f"{self._path}/detach", is_repeatable=True))

    async def end(self) -> None:
        """Close the session for all who take part, and their streams with it.

        Raises:
            NotFound: there is no such session (any more).
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        await self._transport.send(removal(self._path))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.detach()
