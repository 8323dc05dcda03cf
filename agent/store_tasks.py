"""Tasks without any agent: taking a revision back, committing what a preview showed, importing documents."""

from typing import Any

from agent.budget import require_few_writes, require_scopes
from agent.dream import keep_record
from agent.errors import DocumentStands
from agent.secrecy import keep_out
from agent.task_run import PREVIEW_LEAD, Staged, Staging, TaskCall, Work, Workplace, run_commit, run_task
from core.acp import MAX_IMPORTED, ConflictPolicy
from core.ids import TaskId
from core.memory_calls import (
    ApplyParams,
    ImportedDocument,
    ImportParams,
    ImportResult,
    TaskResult,
    UndoParams,
)
from core.policies import Policy
from memory.errors import DocumentMissing, PathEscape, PathRefused
from memory.paths import SCOPES
from memory.store import Commit, Judge
from memory.transaction import Transaction


def undo(params: UndoParams, call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Take a revision back; see ``memory.store.Store.undo``.

    Raises:
        RevisionNotFound, RevisionPruned, CommitConflict: it can't be taken back; nothing was committed.
        ScopeForbidden, BudgetExceeded, SecretDetected: the policy is against it.
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
        lambda: workplace.store.undo(
            call.task,
            params.revision,
            workplace.roots,
            result_of=result_of,
            judge=_judge_by(workplace.policy),
        ),
        call,
        workplace,
    )


def apply(params: ApplyParams, call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Commit what a preview showed; its result is the preview's, told as done.

    Raises:
        PreviewStale: memory has changed in its way, or there is no such preview (any more).
        ScopeForbidden, BudgetExceeded, SecretDetected: the policy is against it, as it is now.
        MemlaneError: as for ``agent.task_run.run_commit``.
    """

    def result_of(commit: Commit, shown: dict[str, Any]) -> dict[str, Any]:
        result = {name: value for name, value in shown.items() if name not in ("usage", "revision")}
        result["summary"] = result["summary"].removeprefix(PREVIEW_LEAD)
        result["touchedScopes"] = list(commit.touched_scopes)
        return result | ({"revision": commit.revision} if commit.revision else {})

    preview = TaskId(params.preview)
    result = run_commit(
        lambda: workplace.store.apply(
            call.task, preview, workplace.roots, result_of=result_of, judge=_judge_by(workplace.policy)
        ),
        call,
        workplace,
    )
    if call.task.kind == "dream":
        keep_record(result, workplace.roots)
    return result


def _judge_by(policy: Policy) -> Judge:
    """Judge edits that are committed byte for byte or not at all: a secret in them is never redacted."""

    def judge(transaction: Transaction) -> None:
        require_scopes({change.scope for change in transaction.changes}, policy)
        require_few_writes(transaction, policy)
        keep_out(transaction, "allow" if policy.secrets == "allow" else "reject")

    return judge


def import_documents(params: ImportParams, call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Write documents as they are, all in one commit.

    A document that exists with the same bytes is skipped; of one with other bytes ``conflict`` decides.

    Raises:
        DocumentStands: one exists with other bytes and ``conflict`` is ``fail``, or its place can't be taken.
        DocumentInvalid: one is not well-formed.
        ScopeForbidden: the policy allows no change in one of their scopes.
        MemlaneError: as for ``agent.task_run.run_task``.
    """

    def stage(staging: Staging) -> Staged:
        for document in params.documents:
            staging.deadline.check()
            _place(document, staging.transaction, conflict=params.conflict)
        return Staged("imported", lambda commit: _imported(params, commit))

    require_scopes({document.scope for document in params.documents}, workplace.policy)
    return run_task(Work(frozenset(SCOPES), stage, max_files=MAX_IMPORTED), call, workplace)


def _place(document: ImportedDocument, transaction: Transaction, *, conflict: ConflictPolicy) -> None:
    path = f"{transaction.roots.of(document.scope)}/{document.path}"
    content = document.content.encode()
    try:
        before = _content_of(path, transaction)
        if before == content or (before is not None and conflict == "skip"):
            return
        if before is not None and conflict == "fail":
            raise DocumentStands("it exists with other bytes")
        transaction.write(path, content)
    except (PathEscape, PathRefused) as refusal:
        raise DocumentStands(str(refusal)) from refusal


def _content_of(path: str, transaction: Transaction) -> bytes | None:
    try:
        return transaction.read(path)
    except DocumentMissing:
        return None


def _imported(params: ImportParams, commit: Commit) -> ImportResult:
    imported = len(commit.files_touched)
    skipped = params.skipped + len(params.documents) - imported
    summary = f"Imported {imported} document{'' if imported == 1 else 's'}"
    return ImportResult(
        summary=f"{summary}, skipped {skipped}." if skipped else f"{summary}.",
        touched_scopes=list(commit.touched_scopes),
        revision=commit.revision,
        imported_documents=imported,
        skipped_documents=skipped,
    )
