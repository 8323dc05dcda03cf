# Made from memlane/asynchronous/operators.py by ./dev fmt; change that.
"""What operators look at and do."""

from collections.abc import Generator

from memlane.addresses import segment, with_query
from memlane.answers import parsed
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
from memlane.synchronous.caller import Caller

_PAGE = 200


class OperatorCalls(Caller):
    """Lanes, workers, channels, counters and the audit; the token needs the role ``operator``.

    Every call raises ``Forbidden`` without that role, another ``MemlaneApiError`` for another refusal, and
    ``Unreachable`` if there is no answer.
    """

    def lanes(self) -> tuple[Lane, ...]:
        """See how the lanes of the token's workspaces stand."""
        return parsed(Lanes, self._transport.send(reading("/ops/lanes"))).lanes

    def hold(self, workspace: str) -> Lane:
        """Let a lane start no further task; what runs goes on, and tasks are accepted. Twice does no harm.

        Args:
            workspace: id or absolute path.
        """
        return self._change(workspace, "hold")

    def unhold(self, workspace: str) -> Lane:
        """Let a lane go on.

        Args:
            workspace: id or absolute path.
        """
        return self._change(workspace, "unhold")

    def workers(self) -> tuple[Worker, ...]:
        """See which workers live."""
        return parsed(Workers, self._transport.send(reading("/ops/workers"))).workers

    def channels(self) -> tuple[Channel, ...]:
        """See how the chat channels of the token's workspaces stand."""
        return parsed(Channels, self._transport.send(reading("/ops/channels"))).channels

    def stats(self) -> Stats:
        """See the counters of all lanes, added up."""
        return parsed(Stats, self._transport.send(reading("/ops/stats")))

    def audit(self, outcome: ActOutcome = "done") -> Generator[Act]:
        """Go through what is on record, newest first; pages are fetched as they are needed.

        Args:
            outcome: ``refused`` for what the token's role or workspaces did not allow.
        """
        for page in self._pages(ActPage, with_query("/ops/audit", outcome=outcome, limit=_PAGE)):
            yield from page.entries

    def _change(self, workspace: str, action: str) -> Lane:
        path = f"/ops/lanes/{segment(workspace)}/{action}"
        return parsed(Lane, self._transport.send(signal(path, is_repeatable=True)))
