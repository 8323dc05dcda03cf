"""The remember method: one save request, run by a headless agent, committed whole or not at all."""

from typing import Any

from agent import tools
from agent.briefing import environment, folders_of, one_sentence, read_index
from agent.budget import turns_within
from agent.errors import NoUpdate, RunStopped
from agent.headless import HeadlessAgent, HeadlessRun, run_headless
from agent.provenance import stamp_documents
from agent.remember_prompt import Order, remember_order, remember_system
from agent.secrecy import admit
from agent.task_run import Staged, Staging, TaskCall, Work, Workplace, run_task
from agent.tools import MemoryTools
from core.memory_calls import KnownAt, RememberParams, RememberResult
from memory.document import parse_document
from memory.paths import SCOPES
from memory.store import Commit
from memory.transaction import Transaction

AGENT_NAME = "managed-auto-memory-remember"
MAX_TURNS = 6
MAX_NEW_DOCUMENTS = 1


def remember(params: RememberParams, call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Run a remember request; see ``agent.task_run.run_task``."""
    writable = frozenset({params.scope} if params.scope else SCOPES)
    return run_task(Work(writable, lambda staging: _stage(params, staging)), call, workplace)


def _stage(params: RememberParams, staging: Staging) -> Staged:
    transaction, is_clean = staging.transaction, params.context_mode == "clean"
    content = admit(params.content, staging.policy.secrets)
    memory_tools = MemoryTools(
        transaction,
        deadline=staging.deadline,
        allowed=tools.WRITING_TOOLS if is_clean else tools.ALL_TOOLS,
        max_new=MAX_NEW_DOCUMENTS,
    )
    agent = _agent(staging, content, is_clean=is_clean)
    run = run_headless(
        agent, model=staging.model, tools=memory_tools, deadline=staging.deadline, watch=staging.watch
    )
    _require_saved(run, memory_tools)
    if not transaction.changes:
        path = memory_tools.written[0]
        known = RememberResult(
            summary=_known(transaction, path),
            files_touched=[],
            touched_scopes=[],
            known_at=KnownAt(scope=transaction.scope_of(path), path=_place(transaction, path)),
        )
        return Staged("known", lambda _: known)
    stamp_documents(transaction, transaction.task)
    summary = one_sentence(run.text) or _sentence(transaction)
    return Staged("saved", lambda commit: _result(commit, summary))


def _result(commit: Commit, summary: str) -> RememberResult:
    return RememberResult(
        summary=summary,
        files_touched=[str(path) for path in commit.files_touched],
        touched_scopes=list(commit.touched_scopes),
        revision=commit.revision,
    )


def _agent(staging: Staging, content: str, *, is_clean: bool) -> HeadlessAgent:
    transaction = staging.transaction
    folders = folders_of(transaction)
    indexes = None if is_clean else {scope: read_index(transaction, scope) for scope in folders}
    return HeadlessAgent(
        name=AGENT_NAME,
        system=remember_system(folders, indexes=indexes),
        order=remember_order(Order(content, folders), environment=None if is_clean else environment()),
        max_turns=turns_within(staging.policy, MAX_TURNS),
    )


def _require_saved(run: HeadlessRun, memory_tools: MemoryTools) -> None:
    if run.ending == "saved":
        return
    for problem in memory_tools.problems:
        raise problem
    if run.ending == "answered":
        raise NoUpdate("the agent wrote no memory")
    raise RunStopped("MAX_TURNS" if run.ending == "turns" else "NO_PROGRESS")


def _known(transaction: Transaction, path: str) -> str:
    """What is said of a run that found memory to be right as it is."""
    document = parse_document(transaction.read(path))
    name = f'"{document.name}" in ' if document else ""
    return f"Already known: {name}{_place(transaction, path)}."


def _place(transaction: Transaction, path: str) -> str:
    return path.removeprefix(f"{transaction.roots.of(transaction.scope_of(path))}/")


def _sentence(transaction: Transaction) -> str:
    """What was saved where, for a model that said nothing beside its tool call."""
    change = transaction.changes[0]
    place = _place(transaction, change.path)
    document = parse_document(change.after or b"")
    verb = "Saved" if change.before is None else "Updated"
    return (
        f'{verb} a {document.type} memory "{document.name}" in {place}.' if document else f"{verb} {place}."
    )
