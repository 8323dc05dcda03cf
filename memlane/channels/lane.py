"""The memory lane of a workspace, as its chat channels use it."""

import asyncio
import hashlib
from collections.abc import Mapping
from typing import Any

from channels.envelope import Target
from channels.memory_lane import MemoryKind, MemoryReport, MemoryRequest
from core.acp import Scope
from core.errors import StateError
from core.workspaces import Workspace
from jobs.client import JobsClient
from jobs.tasks import Submission, Task
from jobs.viewer import ANYBODY
from memlane.channels.stores import Patience
from memory.library import Library
from web.schemas import DreamBody, ForgetBody, RememberBody, TaskBody, parse_body

FIRST_PAUSE_S = 0.2
LONGEST_PAUSE_S = 0.5
MAX_MEMORY_CHARACTERS = 20_000
GONE = "what became of it is not known any more"

_SCOPES: tuple[Scope, ...] = ("user", "project")
_BODIES: Mapping[MemoryKind, tuple[type[TaskBody], str | None]] = {
    "remember": (RememberBody, "content"),
    "forget": (ForgetBody, "query"),
    "dream": (DreamBody, None),
}


class NoService(StateError):
    """Nothing runs here that changes memory."""

    code = "no_service"


class NoLane:
    """A ``MemoryLane`` where no service runs: it takes nothing."""

    async def ask(self, _request: MemoryRequest) -> MemoryReport:
        """See ``MemoryLane``.

        Raises:
            NoService: always.
        """
        raise NoService("nothing runs here that changes memory; start memlane up")


class WorkspaceLane:
    """A ``MemoryLane``: each request is a task like all others."""

    def __init__(self, jobs: JobsClient, workspace: Workspace, library: Library) -> None:
        self._jobs = jobs
        self._workspace = workspace
        self._library = library
        self._patience = Patience()

    async def ask(self, request: MemoryRequest) -> MemoryReport:
        """See ``MemoryLane``."""
        ended = await self._ended(await asyncio.to_thread(self._submit, request))
        return _report(ended) if ended is not None else MemoryReport("failed", GONE)

    def _submit(self, request: MemoryRequest) -> Task:
        def check() -> None:
            if request.kind == "undo":
                is_idle = self._jobs.is_idle(self._workspace.id)
                self._library.require_undoable(request.text, self._workspace.path, is_idle=is_idle)

        return self._jobs.accept(self._workspace.id, _submission(request), check=check).task

    async def _ended(self, task: Task) -> Task | None:
        """The task at its end; None for one whose record went before that was seen."""
        now: Task | None = task
        pause_s = FIRST_PAUSE_S
        while now is not None and not now.is_terminal:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            now = await self._patience.ask(lambda: self._find(task))
        return now

    def _find(self, task: Task) -> Task | None:
        return self._jobs.find(self._workspace.id, task.kind, task.id, viewer=ANYBODY)


class WorkspaceMemory:
    """A ``ChatMemory``: the indexes of the workspace's memory."""

    def __init__(self, library: Library, workspace: str) -> None:
        self._library = library
        self._workspace = workspace

    async def read(self, target: Target) -> str:
        """See ``ChatMemory``; the same for every chat of the channel."""
        del target
        return await asyncio.to_thread(self._read)

    def _read(self) -> str:
        indexes = (self._library.index(self._workspace, scope).strip() for scope in _SCOPES)
        return "\n\n".join(index for index in indexes if index)[:MAX_MEMORY_CHARACTERS]


def _submission(request: MemoryRequest) -> Submission:
    digest = hashlib.sha256(request.key.encode("utf-8", "surrogatepass")).hexdigest()
    keys = (f"channel:{digest}",)
    if request.kind == "undo":
        return Submission("undo", {"revision": request.text}, idempotency_keys=keys)
    body, field = _BODIES[request.kind]
    said: dict[str, Any] = {field: request.text} if field is not None else {}
    parsed = parse_body(body, said)
    return Submission(
        request.kind,
        parsed.to_input(),
        context_mode=parsed.mode,
        scope=parsed.scope,
        idempotency_keys=keys,
    )


def _report(task: Task) -> MemoryReport:
    if task.status == "completed":
        summary = (task.result or {}).get("summary")
        return MemoryReport("completed", str(summary or "Done."), task.revision)
    reason = task.error_message or task.error_code or task.status
    return MemoryReport("cancelled" if task.status == "cancelled" else "failed", reason)
