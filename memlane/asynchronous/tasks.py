"""Looking tasks up, and waiting for their end."""

import asyncio
from collections.abc import Callable

from core import clock
from memlane.addresses import task_path
from memlane.answers import parsed
from memlane.asynchronous.caller import Caller
from memlane.errors import RateLimited, Unavailable, Unreachable, WaitTimeout
from memlane.models import Task
from memlane.pace import Pace
from memlane.request import reading


class TaskCalls(Caller):
    """``get`` and ``wait``."""

    async def get(self, task_id: str, *, workspace: str | None = None) -> Task:
        """Read a task.

        Raises:
            NotFound: unknown, expired, of another workspace, or of another client.
            MemlaneApiError: another refusal.
            Unreachable: no answer.
        """
        return await self._task(reading(task_path(task_id, workspace)))

    async def wait(
        self,
        task: Task | str,
        timeout_s: float = 310.0,
        *,
        workspace: str | None = None,
        on_change: Callable[[Task], object] | None = None,
    ) -> Task:
        """Wait until a task has ended, however it ended; a service that is away for a moment is waited for.

        Args:
            task: as ``remember`` or ``get`` returned it, or its id.
            timeout_s: longest wait, seconds; the default covers the longest run of one task.
            workspace: id or absolute path of the one that a bare id belongs to; None means the primary.
            on_change: called with the task whenever its status, position or progress is another than before.

        Raises:
            WaitTimeout: it has not ended yet.
            NotFound: the service no longer knows it.
        """
        pace = Pace(clock.boot_ms() + int(timeout_s * 1000), is_watched=on_change is not None)
        task = await self.get(task, workspace=workspace) if isinstance(task, str) else task
        while not task.finished:
            if pace.is_over:
                raise WaitTimeout(f"{task.task_id} is still {task.status} after {timeout_s:g} s")
            await asyncio.sleep(pace.pause_s())
            before, task = task, await self._read_again(task, pace)
            if on_change is not None and task.standing != before.standing:
                on_change(task)
        return task

    async def _read_again(self, task: Task, pace: Pace) -> Task:
        """The task as it is by now, or as it was while the service can't say."""
        request = reading(task_path(task.task_id, task.workspace_id), hold_s=pace.hold_s())
        try:
            answer = await self._transport.send_once(request)
        except (Unreachable, Unavailable, RateLimited) as failure:
            pace.failed(failure)
            return task
        found = parsed(Task, answer)
        pace.answered(answer, is_news=found.standing != task.standing)
        return found
