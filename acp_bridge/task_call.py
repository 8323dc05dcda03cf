"""One task's call to a child, as far as others may reach into it while it waits for its answer."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from acp_bridge.connection import Connection
from acp_bridge.errors import AgentKilled
from acp_bridge.notices import ProgressListener
from core import acp


class TaskCall:
    """A task on its way through a child, from before there is one. For use on one loop's thread.

    Attributes:
        workspace: canonical path.
        lease_until_ms: until when a child that needs the task's lease may live, milliseconds since boot.
    """

    def __init__(
        self,
        workspace: str,
        task_id: str,
        *,
        lease_until_ms: int,
        grace_s: float,
        on_progress: ProgressListener,
    ) -> None:
        """Begin without a child.

        Args:
            grace_s: how long a child may take to give the task up.
            on_progress: gets what the child says of the task's progress; must not block.
        """
        self.workspace = workspace
        self.task_id = task_id
        self.lease_until_ms = lease_until_ms
        self._grace_s = grace_s
        self._on_progress = on_progress
        self._connection: Connection | None = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._giving_up: asyncio.Task[None] | None = None

    @contextmanager
    def on(self, connection: Connection) -> Iterator[None]:
        """Be on this child, which may yet have to start, until the body ends with the call's own end."""
        self._connection = connection
        try:
            with connection.notices.heard_by(self._on_progress, task_id=self.task_id):
                yield
        finally:
            self._ended.set_result(None)

    def give_up(self) -> bool:
        """Have the child give the task up; doesn't wait, and repeats do no harm.

        A child of ours is told so. It answers the task's call, one way or the other, or is killed once
        the grace is over. Any other child knows no cancelling and is killed at once.

        Returns:
            False when there is no child yet.
        """
        if self._connection is None:
            return False
        if not self._connection.speaks_memlane:
            self.kill()
        elif self._giving_up is None:
            self._giving_up = asyncio.create_task(self._ask_to_give_up(self._connection))
        return True

    def kill(self) -> None:
        """Kill the child, if there is one, with its process group."""
        if self._connection is not None:
            self._connection.lose(AgentKilled("the agent was killed"))

    async def _ask_to_give_up(self, connection: Connection) -> None:
        if connection.alive:
            params = acp.CancelParams(task_id=self.task_id)
            with connection.asking(acp.CANCEL, params.to_wire()) as told:
                # what it says to this is nothing to go by: its answer to the task's own call is
                both: set[asyncio.Future[Any]] = {told, self._ended}
                await asyncio.wait(both, timeout=self._grace_s)
        if not self._ended.done():
            connection.lose(AgentKilled("the agent did not give the task up in time"))
