"""Asking for tasks, and having them changed."""

from collections.abc import Mapping
from typing import Any

from core.acp import ContextMode, Scope
from core.ids import Kind
from core.text import well_formed
from memlane.addresses import memory_path, task_path
from memlane.asynchronous.caller import Caller
from memlane.models import Task
from memlane.request import signal, submission


class SubmissionCalls(Caller):
    """``remember``, ``forget``, ``dream``, and what can be done with a task."""

    async def remember(  # noqa: PLR0913 - one keyword for each part of the request
        self,
        content: str,
        *,
        context_mode: ContextMode | None = None,
        scope: Scope | None = None,
        dry_run: bool = False,
        workspace: str | None = None,
        idempotency_key: str | None = None,
    ) -> Task:
        """Ask for a fact to be remembered; the task runs later, in the workspace's lane.

        Args:
            content: 1 to 65,536 UTF-8 bytes after trimming; a lone surrogate becomes U+FFFD.
            context_mode: ``clean`` keeps what is known already from the agent; the service's default is
                ``workspace``.
            scope: where it must go; None lets the agent choose.
            dry_run: change nothing; the result says in ``preview`` what would change, and ``apply`` does it.
            workspace: id or absolute path of a configured one; None means the primary.
            idempotency_key: names this request, so that sending it again, within a day and from another
                process, too, gives the same task; None takes a fresh one.

        Raises:
            QueueFull: the lane is full, for longer than ``wait_for_place_s``; it says when to come back.
            MemlaneApiError: refused.
            Unreachable: no answer; it may have been accepted all the same.
            UnusableKey: the key can't be sent.
        """
        fields = {"content": well_formed(content), "contextMode": context_mode, "scope": scope}
        return await self._submit(
            "remember", fields | _dry(dry_run), workspace=workspace, key=idempotency_key
        )

    async def forget(  # noqa: PLR0913 - one keyword for each part of the request
        self,
        query: str,
        *,
        scope: Scope | None = None,
        purge: bool = False,
        dry_run: bool = False,
        workspace: str | None = None,
        idempotency_key: str | None = None,
    ) -> Task:
        """Ask for what a query means to be forgotten; the result lists the entries that were removed.

        Args:
            query: 1 to 65,536 UTF-8 bytes after trimming.
            scope: where to look; None means everywhere.
            purge: take every text of the documents that change from the history, too; it can't be undone.
            dry_run, workspace, idempotency_key: as for ``remember``.

        Raises:
            Same as ``remember``.
        """
        fields = {"query": well_formed(query), "scope": scope, "purge": purge or None}
        return await self._submit("forget", fields | _dry(dry_run), workspace=workspace, key=idempotency_key)

    async def dream(
        self,
        *,
        scope: Scope | None = None,
        dry_run: bool = False,
        workspace: str | None = None,
        idempotency_key: str | None = None,
    ) -> Task:
        """Ask for memory to be compacted: duplicates merged, what is out of date mended.

        Args:
            scope: which memory; None means the project's.
            dry_run, workspace, idempotency_key: as for ``remember``.

        Raises:
            Same as ``remember``.
        """
        fields = {"scope": scope}
        return await self._submit("dream", fields | _dry(dry_run), workspace=workspace, key=idempotency_key)

    async def apply(
        self, task_id: str, *, workspace: str | None = None, idempotency_key: str | None = None
    ) -> Task:
        """Ask for exactly that to be done what a dry run showed; asking again gives the same task.

        It fails with ``preview_stale`` if memory has changed in its way since.

        Args:
            workspace, idempotency_key: as for ``remember``.

        Raises:
            NotFound: no such task.
            MemlaneApiError: refused; ``no_preview`` if the task has not completed or was no dry run.
            Unreachable: no answer.
        """
        return await self._task(submission(f"{task_path(task_id, workspace)}/apply", {}, key=idempotency_key))

    async def retry(
        self, task_id: str, *, workspace: str | None = None, idempotency_key: str | None = None
    ) -> Task:
        """Ask for the same once more that a task which has ended was asked for; it is a task of its own.

        Args:
            workspace, idempotency_key: as for ``remember``.

        Raises:
            NotFound: no such task.
            MemlaneApiError: refused; ``input_gone`` if the request is not kept any more.
            QueueFull, Unreachable: as for ``remember``.
        """
        return await self._task(submission(f"{task_path(task_id, workspace)}/retry", {}, key=idempotency_key))

    async def cancel(self, task_id: str, *, workspace: str | None = None) -> Task:
        """Have a task cancelled: at once if it is queued, else it is told to stop, and may yet complete.

        Raises:
            NotFound: no such task.
            MemlaneApiError: refused; ``task_finished`` if it has ended.
            Unreachable: no answer.
        """
        # a second one would be told that the task has ended, which the first one brought about
        return await self._task(signal(f"{task_path(task_id, workspace)}/cancel"))

    async def _submit(
        self, kind: Kind, fields: Mapping[str, Any], *, workspace: str | None, key: str | None
    ) -> Task:
        body = {name: value for name, value in fields.items() if value is not None}
        return await self._task(submission(memory_path(workspace, kind), body, key=key))


def _dry(wanted: bool) -> dict[str, Any]:  # noqa: FBT001 - its only fact
    return {"dryRun": True} if wanted else {}
