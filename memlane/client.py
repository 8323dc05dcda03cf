"""The Python SDK: a client of a running memlane service.

``Client().remember("The staging database is called heron.")`` asks; ``Client.wait`` waits for the end.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode

import httpx2

from core import clock
from core.acp import ArchiveFormat, ConflictPolicy, ContextMode, ReviewDecision, Scope
from core.ids import Kind
from core.settings import load_client_settings
from core.text import well_formed
from memlane import transport
from memlane.addresses import base_of, document_path, segment, task_path
from memlane.credentials import check_token, configured_token
from memlane.errors import QueueFull, Unavailable, Unreachable, WaitTimeout
from memlane.models import (
    Capabilities,
    Document,
    Event,
    Revision,
    RevisionPage,
    ServedWorkspace,
    StoredDocument,
    StoredDocuments,
    Task,
)

_FIRST_POLL_S = 0.05
_SLOWEST_POLL_S = 1.0
_ZIP_BEGINS = b"PK"
_SILENCE_LIMIT_S = 45.0  # three heartbeats of an event stream


class Client:
    """Talks to one service. Several threads may share one; close it, or use it in ``with``."""

    def __init__(
        self,
        base_url: str | None = None,
        token: str | None = None,
        *,
        limit_s: float = 10.0,
        reconnect_s: float = 1.0,
        wait_for_place_s: float = 0.0,
    ) -> None:
        """Prepare a client; nothing is sent yet.

        Args:
            base_url: ``MEMLANE_URL`` unless given, ``http://127.0.0.1:4170`` if that is unset, too.
            token: ``MEMLANE_TOKEN`` unless given, else what ``<MEMLANE_HOME>/token`` holds, else none.
            limit_s: longest wait for one answer, seconds.
            reconnect_s: pause before a lost event stream is asked for again, seconds.
            wait_for_place_s: longest wait for a place in a full lane, seconds; 0 means none.

        Raises:
            ConfigError: the URL is none, the token can't be read or sent, or a setting can't be used.
        """
        settings = load_client_settings()
        chosen = configured_token(settings).token if token is None else check_token(token, source="the call")
        self._reconnect_s = reconnect_s
        self._wait_for_place_s = wait_for_place_s
        self._http = transport.open_http(base_url or settings.url, chosen, limit_s=limit_s)

    @property
    def base_url(self) -> str:
        """Where the service is looked for."""
        return str(self._http.base_url).rstrip("/")

    def remember(
        self,
        content: str,
        *,
        context_mode: ContextMode | None = None,
        scope: Scope | None = None,
        dry_run: bool = False,
        workspace: str | None = None,
    ) -> Task:
        """Ask for a fact to be remembered; the task runs later, in the workspace's lane.

        Args:
            content: 1 to 65,536 UTF-8 bytes after trimming; a lone surrogate becomes U+FFFD.
            context_mode: ``clean`` keeps what is known already from the agent; the service's default is
                ``workspace``.
            scope: where it must go; None lets the agent choose.
            dry_run: change nothing; the result says in ``preview`` what would change, and ``apply`` does it.
            workspace: id or absolute path of a configured one; None means the primary.

        Raises:
            QueueFull: the lane is full, for longer than ``wait_for_place_s``; it says when to come back.
            MemlaneApiError: refused.
            Unreachable: no answer; it may have been accepted all the same.
        """
        fields = {"content": well_formed(content), "contextMode": context_mode, "scope": scope}
        return self._submit("remember", fields, dry_run=dry_run, workspace=workspace)

    def forget(
        self,
        query: str,
        *,
        scope: Scope | None = None,
        purge: bool = False,
        dry_run: bool = False,
        workspace: str | None = None,
    ) -> Task:
        """Ask for what a query means to be forgotten; the result lists the entries that were removed.

        Args:
            query: 1 to 65,536 UTF-8 bytes after trimming.
            scope: where to look; None means everywhere.
            purge: take every text of the documents that change from the history, too; it can't be undone.
            dry_run, workspace: as for ``remember``.

        Raises:
            Same as ``remember``.
        """
        fields = {"query": well_formed(query), "scope": scope, "purge": purge or None}
        return self._submit("forget", fields, dry_run=dry_run, workspace=workspace)

    def dream(
        self, *, scope: Scope | None = None, dry_run: bool = False, workspace: str | None = None
    ) -> Task:
        """Ask for memory to be compacted: duplicates merged, what is out of date mended.

        Args:
            scope: which memory; None means the project's.
            dry_run, workspace: as for ``remember``.

        Raises:
            Same as ``remember``.
        """
        return self._submit("dream", {"scope": scope}, dry_run=dry_run, workspace=workspace)

    def apply(self, task_id: str, *, workspace: str | None = None) -> Task:
        """Ask for exactly that to be done what a dry run showed; asking again gives the same task.

        It fails with ``preview_stale`` if memory has changed in its way since.

        Raises:
            NotFound: no such task.
            MemlaneApiError: refused; ``no_preview`` if the task has not completed or was no dry run.
            Unreachable: no answer.
        """
        return _task(transport.send(self._http, "POST", f"{task_path(task_id, workspace)}/apply", body={}))

    def cancel(self, task_id: str, *, workspace: str | None = None) -> Task:
        """Have a task cancelled: at once if it is queued, else it is told to stop, and may yet complete.

        Raises:
            NotFound: no such task.
            MemlaneApiError: refused; ``task_finished`` if it has ended.
            Unreachable: no answer.
        """
        return _task(transport.send(self._http, "POST", f"{task_path(task_id, workspace)}/cancel", body={}))

    def undo(self, revision: str, *, workspace: str | None = None) -> Task:
        """Ask for a revision of memory to be taken back; what changed since is kept where both fit together.

        It fails with ``memory_conflict`` where they don't.

        Raises:
            NotFound: there is no such revision of this memory.
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        path = f"{base_of(workspace)}/memory/revisions/{segment(revision)}/undo"
        return _task(transport.send(self._http, "POST", path, body={}))

    def export_memory(
        self,
        *,
        archive_format: ArchiveFormat = "tar.gz",
        scope: Scope | None = None,
        workspace: str | None = None,
    ) -> bytes:
        """Read all memories as one archive, ``pinned/`` included, with a ``manifest.json`` that lists them.

        Args:
            scope: only this memory; None means all.
            workspace: as for ``remember``.

        Raises:
            MemlaneApiError: refused; ``archive_too_large`` if there are more than 64 MiB.
            Unreachable: no answer.
        """
        query = {"format": archive_format, **({"scope": scope} if scope else {})}
        path = f"{base_of(workspace)}/memory/export?{urlencode(query)}"
        return transport.send(self._http, "GET", path).content

    def import_memory(
        self, archive: bytes, *, conflict: ConflictPolicy = "fail", workspace: str | None = None
    ) -> Task:
        """Ask for the documents of an archive to be written as they are, all in one revision or none.

        Args:
            archive: zip or tar.gz, 10 MiB at most, as ``export_memory`` gives it. ``pinned/`` is left alone.
            conflict: what to do with a document that exists with other content: ``fail`` the whole task
                with ``memory_conflict``, ``skip`` the document, or ``replace`` what exists.
            workspace: as for ``remember``.

        Raises:
            MemlaneApiError: refused; ``invalid_archive`` names the member that can't be imported.
            QueueFull, Unreachable: as for ``remember``.
        """
        is_zip = archive.startswith(_ZIP_BEGINS)
        body = transport.Upload(archive, "application/zip" if is_zip else "application/gzip")
        return self._ask(f"{base_of(workspace)}/memory/import?{urlencode({'conflict': conflict})}", body)

    def revisions(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        document: Document | None = None,
        workspace: str | None = None,
    ) -> RevisionPage:
        """List who changed memory, newest first.

        Args:
            limit: 1 to 200.
            before: ``next_before`` of the page before.
            document: only revisions of this one.
            workspace: as for ``remember``.

        Raises:
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        named = {} if document is None else {"scope": document.scope, "path": document.path}
        query = {"limit": str(limit), **named, **({"before": before} if before else {})}
        path = f"{base_of(workspace)}/memory/revisions?{urlencode(query, errors='surrogateescape')}"
        return transport.parsed(RevisionPage, transport.send(self._http, "GET", path))

    def revision(self, revision: str, *, workspace: str | None = None) -> Revision:
        """Read one revision with what it changed.

        Raises:
            NotFound: there is no such revision of this memory.
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        path = f"{base_of(workspace)}/memory/revisions/{segment(revision)}"
        return transport.parsed(Revision, transport.send(self._http, "GET", path))

    def waiting(self, *, workspace: str | None = None) -> tuple[StoredDocument, ...]:
        """List the documents that wait for a review, 1,000 at most, without their text.

        Raises:
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        path = f"{base_of(workspace)}/memory/documents?review=waiting&limit=1000"
        return transport.parsed(StoredDocuments, transport.send(self._http, "GET", path)).documents

    def document(self, document: Document, *, workspace: str | None = None) -> StoredDocument:
        """Read one document with its text.

        Raises:
            NotFound: there is no such document.
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        path = document_path(document, workspace)
        return transport.parsed(StoredDocument, transport.send(self._http, "GET", path))

    def review(
        self, document: StoredDocument, decision: ReviewDecision, *, workspace: str | None = None
    ) -> Task:
        """Ask for a document that waits to be approved, or rejected and thereby removed, as it was read.

        Args:
            document: as ``document`` gave it.

        Raises:
            NotFound: it is gone.
            MemlaneApiError: refused; ``memory_conflict`` if it has changed since, ``not_under_review`` if it
                does not wait.
            QueueFull, Unreachable: as for ``remember``.
        """
        path = f"{document_path(document, workspace)}/review"
        return self._ask(path, {"decision": decision, "sha256": document.sha256})

    def get(self, task_id: str, *, workspace: str | None = None) -> Task:
        """Read a task.

        Raises:
            NotFound: unknown, expired, of another workspace, or of another client.
            MemlaneApiError: another refusal.
            Unreachable: no answer.
        """
        return _task(transport.send(self._http, "GET", task_path(task_id, workspace)))

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
        deadline_ms = clock.boot_ms() + int(timeout_s * 1000)
        task = self.get(task, workspace=workspace) if isinstance(task, str) else task
        pause_s = _FIRST_POLL_S
        while not task.finished:
            if clock.boot_ms() >= deadline_ms:
                raise WaitTimeout(f"{task.task_id} is still {task.status} after {timeout_s:g} s")
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.5, _SLOWEST_POLL_S)
            before, task = task, self._read_again(task)
            if on_change is not None and task.standing != before.standing:
                on_change(task)
        return task

    def events(self, *, last_event_id: int | None = None, workspace: str | None = None) -> Iterator[Event]:
        """Follow a workspace's events; a lost connection is resumed where it broke. It never ends by itself.

        Args:
            last_event_id: id of the last event already seen; None starts with what happens from now on.
            workspace: id or absolute path of a configured one; None means the primary.

        Raises:
            MemlaneApiError: refused.
            Unreachable: the first connection failed; later ones are tried again for ever.
        """
        position = transport.Position(last_event_id)
        path = f"{base_of(workspace)}/events"
        while True:
            try:
                for text in transport.follow(self._http, path, position, silence_s=_SILENCE_LIMIT_S):
                    yield Event.model_validate_json(text)
            except (Unreachable, Unavailable):
                if not position.connected:
                    raise
            time.sleep(self._reconnect_s)

    def workspaces(self) -> tuple[ServedWorkspace, ...]:
        """List what the service serves, the primary one first.

        Raises:
            MemlaneApiError: refused.
            Unreachable: no answer.
        """
        return transport.parsed(Capabilities, transport.send(self._http, "GET", "/capabilities")).workspaces

    def close(self) -> None:
        """Close the connections; repeating it does nothing."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _submit(self, kind: Kind, fields: Mapping[str, Any], *, dry_run: bool, workspace: str | None) -> Task:
        body = {name: value for name, value in fields.items() if value is not None}
        if dry_run:
            body["dryRun"] = True
        return self._ask(f"{base_of(workspace)}/memory/{kind}", body)

    def _ask(self, path: str, body: Mapping[str, Any] | transport.Upload) -> Task:
        """Post what makes a task, and wait for a place in the lane as long as that was asked for."""
        deadline_ms = clock.boot_ms() + int(self._wait_for_place_s * 1000)
        while True:
            try:
                return _task(transport.send(self._http, "POST", path, body=body))
            except QueueFull as full:
                if clock.boot_ms() + full.retry_after_s * 1000 > deadline_ms:
                    raise
                time.sleep(full.retry_after_s)

    def _read_again(self, task: Task) -> Task:
        try:
            return self.get(task.task_id, workspace=task.workspace_id)
        except (Unreachable, Unavailable):
            return task


def _task(answer: httpx2.Response) -> Task:
    return transport.parsed(Task, answer)
