"""What operators look at and do."""

from collections.abc import AsyncGenerator

from memlane.addresses import segment, with_query
from memlane.answers import parsed
from memlane.asynchronous.caller import Caller
from memlane.operator_models import (
    Act,
    ActOutcome,
    ActPage,
    Channel,
    Channels,
    Lane,
    Lanes,
    Stats,
    Worker,
    Workers,
)
from memlane.request import reading, signal

_PAGE = 200


class OperatorCalls(Caller):
    """Lanes, workers, channels, counters and the audit; the token needs the role ``operator``.

    Every call raises ``Forbidden`` without that role, another ``MemlaneApiError`` for another refusal, and
    ``Unreachable`` if there is no answer.
    """

    async def lanes(self) -> tuple[Lane, ...]:
        """See how the lanes of the token's workspaces stand."""
        return parsed(Lanes, await self._transport.send(reading("/ops/lanes"))).lanes

    async def hold(self, workspace: str) -> Lane:
        """Let a lane start no further task; what runs goes on, and tasks are accepted. Twice does no harm.

        Args:
            workspace: id or absolute path.
        """
        return await self._change(workspace, "hold")

    async def unhold(self, workspace: str) -> Lane:
        """Let a lane go on.

        Args:
            workspace: id or absolute path.
        """
        return await self._change(workspace, "unhold")

    async def workers(self) -> tuple[Worker, ...]:
        """See which workers live."""
        return parsed(Workers, await self._transport.send(reading("/ops/workers"))).workers

    async def channels(self) -> tuple[Channel, ...]:
        """See how the chat channels of the token's workspaces stand."""
        return parsed(Channels, await self._transport.send(reading("/ops/channels"))).channels

    async def stats(self) -> Stats:
        """See the counters of all lanes, added up."""
        return parsed(Stats, await self._transport.send(reading("/ops/stats")))

    async def audit(self, outcome: ActOutcome = "done") -> AsyncGenerator[Act]:
        """Go through what is on record, newest first; pages are fetched as they are needed.

        Args:
            outcome: ``refused`` for what the token's role or workspaces did not allow.
        """
        async for page in self._pages(ActPage, with_query("/ops/audit", outcome=outcome, limit=_PAGE)):
            for act in page.entries:
                yield act

    async def _change(self, workspace: str, action: str) -> Lane:
        path = f"/ops/lanes/{segment(workspace)}/{action}"
        return parsed(Lane, await self._transport.send(signal(path, is_repeatable=True)))
