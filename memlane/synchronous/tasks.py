# Made from memlane/asynchronous/tasks.py by ./dev fmt; change that.
"""Looking tasks up, and waiting for their end."""

import time
from collections.abc import Callable, Generator

from core import clock
from core.ids import Kind
from memlane.addresses import memory_path, task_path
from memlane.answers import parsed
from memlane.errors import RateLimited, Unavailable, Unreachable, WaitTimeout
from memlane.models import Outcome, Status, Task, TaskPage
from memlane.pace import Pace
from memlane.request import reading
from memlane.synchronous.caller import Caller

_PAGE = 200


class TaskCalls(Caller):
    """``tasks``, ``task_page``, ``get`` and ``wait``."""

    def tasks(
        self,
        *,
        status: Status | None = None,
        outcome: Outcome | None = None,
        kind: Kind | None = None,
        workspace: str | None = None,
    ) -> Generator[Task]:
        """Go through the tasks that this client may see, newest first, without their results.

        Args:
            status, outcome, kind: only such tasks.
            workspace: id or absolute path of a configured one; None means the primary.

        Raises:
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        only = {"status": status, "outcome": outcome, "kind": kind}
        path = memory_path(workspace, "tasks", **only, limit=_PAGE)
        for page in self._pages(TaskPage, path):
            yield from page.tasks

    def task_page(  # noqa: PLR0913 - one keyword for each part of the query
        self,
        *,
        status: Status | None = None,
        outcome: Outcome | None = None,
        kind: Kind | None = None,
        limit: int = _PAGE,
        cursor: str | None = None,
        workspace: str | None = None,
    ) -> TaskPage:
        """Read some tasks, newest first.

        Args:
            limit: 1 to 200.
            cursor: ``next_cursor`` of the page before.
            status, outcome, kind, workspace: as for ``tasks``.

        Raises:
            Same as ``tasks``.
        """
        only = {"status": status, "outcome": outcome, "kind": kind}
        path = memory_path(workspace, "tasks", **only, limit=limit, cursor=cursor)
        return parsed(TaskPage, self._transport.send(reading(path)))

    def get(self, task_id: str, *, workspace: str | None = None) -> Task:
        """Read a task.

        Raises:
            NotFound: unknown, expired, of another workspace, or of another client.
            MemlaneApiError: another refusal.
            Unreachable: no answer.
        """
        return self._task(reading(task_path(task_id, workspace)))

    def wait(
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
        task = self.get(task, workspace=workspace) if isinstance(task, str) else task
        while not task.finished:
            if pace.is_over:
                raise WaitTimeout(f"{task.task_id} is still {task.status} after {timeout_s:g} s")
            time.sleep(pace.pause_s())
            before, task = task, self._read_again(task, pace)
            if on_change is not None and task.standing != before.standing:
                on_change(task)
        return task

    def _read_again(self, task: Task, pace: Pace) -> Task:
        """The task as it is by now, or as it was while the service can't say."""
        request = reading(task_path(task.task_id, task.workspace_id), hold_s=pace.hold_s())
        try:
            answer = self._transport.send_once(request)
        except (Unreachable, Unavailable, RateLimited) as failure:
            pace.failed(failure)
            return task
        found = parsed(Task, answer)
        pace.answered(answer, is_news=found.standing != task.standing)
        return found
