"""The forget method: the entries that a request means are cut out of their documents, byte by byte."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from agent.secrecy import shown
from agent.selection import select
from agent.task_run import Staged, Staging, TaskCall, Work, Workplace, run_task
from core.memory_calls import ForgetParams, ForgetResult, QuotingTask, RemovedEntry
from memory.candidates import Candidate, choose_candidates
from memory.document import MEMORY_TYPES
from memory.entries import remove_entries
from memory.errors import CommitConflict, StoreBusy, StoreUnusable
from memory.paths import SCOPES
from memory.revisions import Revisions
from memory.scan import ReadDocument, read_documents
from memory.store import Commit
from memory.transaction import Transaction

PURGED = "Managed auto-memory forgot and purged what matched."
NOTHING_MATCHED = "No managed auto-memory entries matched."
MAX_ENTRY_CHARACTERS = 500

_Contents = Mapping[str, bytes]  # by absolute path, as the candidates were read


def forget(params: ForgetParams, call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Run a forget request; see ``agent.task_run.run_task``.

    Only lines of the selected entries go; a document that states nothing afterwards goes with them. No
    stamp is written: what stays was written by whom it says, and the journal knows who removed the rest.
    With ``purge`` the store and its history lose every text of the documents that change, and the result
    quotes nothing.
    """
    writable = frozenset({params.scope} if params.scope else SCOPES)
    result = run_task(Work(writable, lambda staging: _stage(params, staging)), call, workplace)
    if not params.purge or call.dry_run or "revision" not in result:
        return result
    # after the commit, and after a recorded one as well: whoever made that may have died here
    try:
        forgotten = Revisions(workplace.store.base).find(result["revision"], workplace.roots)
        tasks = workplace.store.purge(call.task, forgotten.documents, workplace.roots)
    except StoreUnusable as error:
        # it has committed, so it can't fail any more: it is handed back, and purges when it is run again
        raise StoreBusy("the purge has to be done again") from error
    quoting = [QuotingTask(lane_id=lane, task_id=task) for lane, task in tasks if task != call.task.id]
    return result | {"purgedTasks": [one.to_wire() for one in quoting]}


def _stage(params: ForgetParams, staging: Staging) -> Staged:
    transaction = staging.transaction
    documents = _read(transaction)
    candidates = choose_candidates(documents, query=params.query)
    if candidates:
        staging.watch.turn_began(1, of=1)
    chosen = (
        select(params.query, candidates, model=staging.fast_model, deadline=staging.deadline)
        if candidates
        else ()
    )
    _remove(transaction, chosen, {_path_of(transaction, one): one.content for one in documents})
    removed = [_removed_entry(staging, one) for one in chosen]
    if params.purge and removed:  # recorded without quotes, so that none has to be taken out again
        return Staged("forgot", lambda commit: _purged(_result(commit, removed)))
    return Staged("forgot" if removed else "unmatched", lambda commit: _result(commit, removed))


def _read(transaction: Transaction) -> list[ReadDocument]:
    scopes = [scope for scope in SCOPES if scope in transaction.writable]
    return [one for scope in scopes for one in read_documents(transaction.roots.of(scope), scope)]


def _path_of(transaction: Transaction, place: ReadDocument | Candidate) -> str:
    return f"{transaction.roots.of(place.scope)}/{place.path}"


def _remove(transaction: Transaction, chosen: Iterable[Candidate], contents: _Contents) -> None:
    by_path = sorted(chosen, key=lambda one: _path_of(transaction, one))
    for path, entries in groupby(by_path, key=lambda one: _path_of(transaction, one)):
        if transaction.read(path) != contents[path]:
            raise CommitConflict([path])  # the indexes of its entries hold no longer
        left = remove_entries(contents[path], [one.entry.index for one in entries])
        if left is None:
            transaction.remove(path)
        else:
            transaction.write(path, left)


def _removed_entry(staging: Staging, candidate: Candidate) -> RemovedEntry:
    text = shown(candidate.entry.text or candidate.name, staging.policy.secrets)
    return RemovedEntry(
        topic=candidate.type,
        summary=text[:MAX_ENTRY_CHARACTERS],
        file_path=_path_of(staging.transaction, candidate),
        entry_index=candidate.entry.index,
    )


def _result(commit: Commit, removed: Sequence[RemovedEntry]) -> ForgetResult:
    topics = {entry.topic for entry in removed}
    touched = [topic for topic in MEMORY_TYPES if topic in topics]
    return ForgetResult(
        summary=_summary(len(removed), touched),
        removed_entries=list(removed),
        touched_topics=list(touched),
        touched_scopes=list(commit.touched_scopes),
        revision=commit.revision,
    )


def _purged(result: ForgetResult) -> ForgetResult:
    return result.model_copy(update={"summary": PURGED, "removed_entries": []})


def _summary(count: int, topics: Sequence[str]) -> str:
    if not count:
        return NOTHING_MATCHED
    places = ", ".join(f"{topic}/" for topic in topics)
    return f"Managed auto-memory forgot {count} {'entry' if count == 1 else 'entries'} from: {places}"
