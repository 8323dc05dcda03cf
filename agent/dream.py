"""The dream method: a headless agent puts one root in order; documents go only into others."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent.briefing import environment, folders_of, one_sentence, read_index
from agent.budget import turns_within
from agent.dream_prompt import MAX_CALLS_PER_TURN, MAX_TURNS, dream_order, dream_system
from agent.errors import RunStopped
from agent.headless import HeadlessAgent, HeadlessRun, run_headless
from agent.losses import find_losses
from agent.provenance import stamp_documents
from agent.reading import printable
from agent.task_run import Staged, Staging, TaskCall, Work, Workplace, run_task
from agent.tools import ALL_TOOLS, MERGE_MEMORIES, MemoryTools
from core.acp import Scope
from core.clock import wall_ms
from core.errors import InputError
from core.logs import get_logger
from core.memory_calls import DreamParams, DreamResult, LeftMemory
from memory.content import digest
from memory.document import MEMORY_TYPES, MemoryType, parse_document
from memory.dream_record import DreamRecord, dream_folder, record_dream, recorded_input
from memory.errors import StoreUnusable
from memory.paths import Roots
from memory.standing import is_expired
from memory.store import Commit
from memory.transaction import Transaction

AGENT_NAME = "managed-auto-memory-dreamer"
MAX_NAMED = 10
RULES_VERSION = "2"  # changes with what a dream does, so that memory is looked at again

_LEAD = "Managed auto-memory dream (agent): "
_NOTHING = "Nothing needed consolidation."
_MERGED = "Merged entries."

_log = get_logger(__name__)


def dream(params: DreamParams, call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Run a dream over one root, the project's unless asked otherwise; see ``agent.task_run.run_task``.

    A root that is as the last finished dream of the same model left it is not looked at again: no model
    is asked then. Memories whose ``expires`` has passed are named in the summary and stay.
    """
    scope = params.scope or "project"
    result = run_task(
        Work(frozenset({scope}), lambda staging: _stage(scope, staging, roots=workplace.roots)),
        call,
        workplace,
    )
    if not call.dry_run:
        keep_record(result, workplace.roots)
    return result


def keep_record(result: Mapping[str, Any], roots: Roots) -> None:
    """Write down what a dream came to, if it was finished; without that it is only dreamt again.

    Args:
        result: of a dream that has committed, on the wire.
    """
    dreamt = DreamResult.model_validate(result)
    if dreamt.left is None:
        return
    try:
        record_dream(
            dream_folder(roots, dreamt.left.scope),
            DreamRecord(dreamt.left.digest, tuple(dreamt.touched_topics)),
        )
    except StoreUnusable as error:
        _log.warning("dream_unrecorded", reason=str(error))


def _stage(scope: Scope, staging: Staging, *, roots: Roots) -> Staged:
    """Stage what a dream comes to."""
    transaction, model = staging.transaction, staging.model.name
    documents = _read(transaction, scope)
    seen, expired = _digests(documents), _expired(documents)
    if not documents or _digest(seen, model) == recorded_input(dream_folder(roots, scope)):
        return _staged(
            "unchanged", transaction, topics=(), summary=_summary("", (), expired), left=lambda: None
        )
    run, is_finished = _run(staging, scope)
    topics = _touched_topics(transaction)

    def left() -> LeftMemory | None:
        # asked when all is staged: what is redacted or held back is not what the agent wrote
        return (
            LeftMemory(scope=scope, digest=_digest(_after(transaction, seen), model)) if is_finished else None
        )

    return _staged(
        "dreamt", transaction, topics=topics, summary=_summary(run.text, topics, expired), left=left
    )


def _run(staging: Staging, scope: Scope) -> tuple[HeadlessRun, bool]:
    """Let the agent work, and stamp what it changed; tells too whether it saw its work to the end."""
    transaction = staging.transaction
    tools = MemoryTools(
        transaction,
        deadline=staging.deadline,
        allowed=(*ALL_TOOLS, MERGE_MEMORIES),
        judge=find_losses,
    )
    agent = _agent(staging, scope)
    run = run_headless(
        agent, model=staging.model, tools=tools, deadline=staging.deadline, watch=staging.watch
    )
    _require_usable(run, tools)
    stamp_documents(transaction, transaction.task)
    return run, run.ending == "answered" and tools.had_room


def _agent(staging: Staging, scope: Scope) -> HeadlessAgent:
    transaction = staging.transaction
    return HeadlessAgent(
        name=AGENT_NAME,
        system=dream_system(scope, read_index(transaction, scope)),
        order=dream_order(folders_of(transaction), environment=environment()),
        max_turns=turns_within(staging.policy, MAX_TURNS),
        max_calls=MAX_CALLS_PER_TURN,
        ends_with_save=False,
    )


def _require_usable(run: HeadlessRun, tools: MemoryTools) -> None:
    for problem in tools.problems:
        raise problem
    if run.ending != "answered" and not tools.written:
        raise RunStopped("MAX_TURNS" if run.ending == "turns" else "NO_PROGRESS")


def _read(transaction: Transaction, scope: Scope) -> dict[str, bytes | None]:
    """Every document of a root by its path relative to it; None for what can't be read."""
    root = f"{transaction.roots.of(scope)}/"
    found: dict[str, bytes | None] = {}
    for path in transaction.documents(scope):
        try:
            found[path.removeprefix(root)] = transaction.read(path)
        except InputError:
            found[path.removeprefix(root)] = None
    return found


def _digests(documents: Mapping[str, bytes | None]) -> dict[str, str]:
    return {path: _digest_of(content) for path, content in documents.items()}


def _digest_of(content: bytes | None) -> str:
    return digest(content) if content is not None else "unreadable"


def _after(transaction: Transaction, seen: Mapping[str, str]) -> dict[str, str]:
    """Digests of the documents as they will be, with everything else as the dream saw it."""
    left = dict(seen)
    for change in transaction.changes:
        path = change.path.removeprefix(f"{transaction.roots.of(change.scope)}/")
        left.pop(path, None)
        if change.after is not None:
            left[path] = _digest_of(change.after)
    return left


def _digest(documents: Mapping[str, str], model: str) -> str:
    whole = hashlib.sha256(f"{RULES_VERSION}\0{model}\0".encode())
    for path, content in sorted(documents.items()):
        whole.update(hashlib.sha256(path.encode("utf-8", "surrogateescape")).digest())
        whole.update(content.encode())
    return whole.hexdigest()


def _expired(documents: dict[str, bytes | None]) -> list[str]:
    now_ms = wall_ms()
    parsed = ((path, parse_document(content or b"")) for path, content in documents.items())
    return sorted(path for path, document in parsed if document and is_expired(document, now_ms=now_ms))


def _touched_topics(transaction: Transaction) -> tuple[MemoryType, ...]:
    versions = (one for change in transaction.changes for one in (change.before, change.after))
    parsed = (parse_document(one) for one in versions if one is not None)
    topics = {document.type for document in parsed if document is not None}
    return tuple(topic for topic in MEMORY_TYPES if topic in topics)


def _summary(text: str, topics: Sequence[str], expired: Sequence[str]) -> str:
    said = one_sentence(text) or (_MERGED if topics else _NOTHING)
    return _LEAD + " ".join([said, *_expiry_sentence(expired)])


def _expiry_sentence(expired: Sequence[str]) -> list[str]:
    if not expired:
        return []
    more = f" and {len(expired) - MAX_NAMED} more" if len(expired) > MAX_NAMED else ""
    return [f"Expired, and left in place: {printable(', '.join(expired[:MAX_NAMED]))}{more}."]


def _staged(
    ending: str,
    transaction: Transaction,
    *,
    topics: Sequence[MemoryType],
    summary: str,
    left: Callable[[], LeftMemory | None],
) -> Staged:
    merged = sum(change.after is None for change in transaction.changes)

    def result_of(commit: Commit) -> DreamResult:
        return DreamResult(
            summary=summary,
            touched_topics=list(topics),
            deduped_entries=merged,
            left=left(),
            touched_scopes=list(commit.touched_scopes),
            revision=commit.revision,
        )

    return Staged(ending, result_of)
