"""Tasks that the store does without any agent: taking a revision back, committing what a preview showed."""

from typing import Any

from agent.task_run import PREVIEW_LEAD, Bench, TaskCall, run_commit
from core.acp import ApplyParams, TaskResult, UndoParams
from core.ids import TaskId
from memory.store import Commit


def undo(params: UndoParams, call: TaskCall, bench: Bench) -> dict[str, Any]:
    """Take a revision back; see ``memory.store.Store.undo``.

    Raises:
        RevisionNotFound, RevisionPruned, CommitConflict: it can't be taken back; nothing was committed.
        MemlaneError: as for ``agent.task_run.run_commit``.
    """

    def result_of(commit: Commit) -> dict[str, Any]:
        done = (
            f"Took {params.revision} back."
            if commit.revision
            else f"{params.revision} was taken back before."
        )
        result = TaskResult(
            summary=done, touched_scopes=list(commit.touched_scopes), revision=commit.revision
        )
        return result.to_wire()

    return run_commit(
        lambda: bench.store.undo(call.task, params.revision, bench.roots, result_of=result_of), call, bench
    )


def apply(params: ApplyParams, call: TaskCall, bench: Bench) -> dict[str, Any]:
    """Commit what a preview showed; its result is the preview's, told as done.

    Raises:
        PreviewStale: memory has changed in its way, or there is no such preview (any more).
        MemlaneError: as for ``agent.task_run.run_commit``.
    """

    def result_of(commit: Commit, shown: dict[str, Any]) -> dict[str, Any]:
        result = {name: value for name, value in shown.items() if name not in ("usage", "revision")}
        result["summary"] = result["summary"].removeprefix(PREVIEW_LEAD)
        result["touchedScopes"] = list(commit.touched_scopes)
        return result | ({"revision": commit.revision} if commit.revision else {})

    preview = TaskId(params.preview)
    return run_commit(
        lambda: bench.store.apply(call.task, preview, bench.roots, result_of=result_of), call, bench
    )
