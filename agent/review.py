"""The review method: a person has looked at a document that waits, and approves or rejects it."""

from typing import Any

from agent.budget import require_scopes
from agent.errors import ReviewOutdated
from agent.task_run import Staged, Staging, TaskCall, Work, Workplace, run_task
from core.memory_calls import ReviewParams, TaskResult
from memory.content import digest
from memory.document import drop_document_field
from memory.errors import DocumentInvalid, DocumentMissing
from memory.standing import REVIEW_FIELD, waits_for_review
from memory.store import Commit
from memory.transaction import Transaction


def review(params: ReviewParams, call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Take the ``review`` line out of a document, or the document out of memory; see ``run_task``.

    Raises:
        ReviewOutdated: the document is not what was reviewed, or does not wait (any more).
        DocumentInvalid: the line is written so that it can't be taken out.
        ScopeForbidden: the policy allows no change in its scope.
        MemlaneError: as for ``agent.task_run.run_task``.
    """
    require_scopes({params.scope}, workplace.policy)
    work = Work(
        frozenset({params.scope}),
        lambda staging: _stage(params, staging),
        holds_back=False,  # a person has just decided that
    )
    return run_task(work, call, workplace)


def _stage(params: ReviewParams, staging: Staging) -> Staged:
    transaction = staging.transaction
    path = f"{transaction.roots.of(params.scope)}/{params.path}"
    content = _reviewed(path, params.sha256, transaction)
    transaction.hold(path)  # what somebody adds from now on has not been reviewed
    if params.decision == "approve":
        transaction.write(path, _approved(path, content))
    else:
        transaction.remove(path)
    return Staged("reviewed", lambda commit: _result(params, commit))


def _reviewed(path: str, sha256: str, transaction: Transaction) -> bytes:
    try:
        content = transaction.read(path)
    except DocumentMissing as error:
        raise ReviewOutdated("it is gone") from error
    if digest(content) != sha256 or not waits_for_review(content):
        raise ReviewOutdated("it is not what was reviewed")
    return content


def _approved(path: str, content: bytes) -> bytes:
    approved = drop_document_field(content, REVIEW_FIELD)
    if waits_for_review(approved):
        raise DocumentInvalid(path, f"its `{REVIEW_FIELD}` does not stand on a line of its own")
    return approved


def _result(params: ReviewParams, commit: Commit) -> TaskResult:
    done = "Approved" if params.decision == "approve" else "Rejected"
    return TaskResult(
        summary=f"{done} {params.scope}/{params.path}.",
        touched_scopes=list(commit.touched_scopes),
        revision=commit.revision,
    )
