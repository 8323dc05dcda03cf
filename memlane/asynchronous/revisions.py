"""Who changed memory, and taking it back."""

from collections.abc import AsyncGenerator

from memlane.addresses import memory_path, segment
from memlane.answers import parsed
from memlane.asynchronous.caller import Caller
from memlane.models import Document, Revision, RevisionPage, Task
from memlane.request import reading, submission

_PAGE = 200


class RevisionCalls(Caller):
    """``revisions``, ``revision_page``, ``revision`` and ``undo``."""

    async def revisions(
        self, *, document: Document | None = None, workspace: str | None = None
    ) -> AsyncGenerator[Revision]:
        """Go through the changes of memory, newest first, without their diffs.

        Args:
            document: only those of this one.
            workspace: as for ``remember``.

        Raises:
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        path = memory_path(workspace, "revisions", limit=_PAGE, **_named(document))
        async for page in self._pages(RevisionPage, path):
            for revision in page.revisions:
                yield revision

    async def revision_page(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        document: Document | None = None,
        workspace: str | None = None,
    ) -> RevisionPage:
        """Read some changes of memory, newest first.

        Args:
            limit: 1 to 200.
            before: ``next_before`` of the page before.
            document, workspace: as for ``revisions``.

        Raises:
            Same as ``revisions``.
        """
        path = memory_path(workspace, "revisions", limit=limit, **_named(document), before=before)
        return parsed(RevisionPage, await self._transport.send(reading(path)))

    async def revision(self, revision: str, *, workspace: str | None = None) -> Revision:
        """Read one revision with what it changed.

        Raises:
            NotFound: there is no such revision of this memory.
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        path = memory_path(workspace, "revisions", segment(revision))
        return parsed(Revision, await self._transport.send(reading(path)))

    async def undo(
        self, revision: str, *, workspace: str | None = None, idempotency_key: str | None = None
    ) -> Task:
        """Ask for a revision of memory to be taken back; what changed since is kept where both fit together.

        It fails with ``memory_conflict`` where they don't.

        Args:
            workspace, idempotency_key: as for ``remember``.

        Raises:
            NotFound: there is no such revision of this memory.
            MemlaneApiError: refused.
        """
        path = memory_path(workspace, "revisions", segment(revision), "undo")
        return await self._task(submission(path, {}, key=idempotency_key))


def _named(document: Document | None) -> dict[str, str]:
    return {} if document is None else {"scope": document.scope, "path": document.path}
