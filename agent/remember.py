"""The remember method: one save request, run by a headless agent, committed whole or not at all."""

import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

from agent import tools
from agent.deadline import Deadline
from agent.errors import NoUpdate, RunStopped
from agent.headless import HeadlessAgent, HeadlessRun, add_usage, run_headless
from agent.models.interface import Model
from agent.prompts import Order, remember_order, remember_system
from agent.provenance import stamp_documents
from agent.tools import MemoryTools
from core.acp import RESERVE_MS, RememberParams, RememberResult, Usage
from core.clock import boot_ms, today
from core.errors import InputError, MemlaneError
from core.logs import get_logger
from memory.document import parse_document
from memory.errors import CommitConflict, StoreBusy, StoreUnusable
from memory.lock import HOLD_MS, WAIT_MS
from memory.names import INDEX_NAME
from memory.paths import SCOPES, Roots
from memory.store import Commit, FencedTask, Store
from memory.transaction import Transaction

AGENT_NAME = "managed-auto-memory-remember"
MAX_TURNS = 6
MAX_NEW_DOCUMENTS = 1
MAX_RERUNS = 3
MIN_RERUN_MS = 60_000
# A commit that begins as late as it may still ends, and is answered, before the bridge gives up on us.
COMMIT_RESERVE_MS = WAIT_MS + HOLD_MS - RESERVE_MS + 1_000
MAX_SUMMARY_CHARACTERS = 500
MAX_INDEX_CHARACTERS = 40_000

_SYSTEMS = {"linux": "Linux", "darwin": "macOS"}

_Ending = Literal["saved", "known", "recovered", "failed"]

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class RememberCall:
    """One remember request as the child took it.

    Attributes:
        deadline: when the last step that may wait for the store has to begin; ``COMMIT_RESERVE_MS``
            before the moment at which the task's time is over.
    """

    params: RememberParams
    task: FencedTask
    deadline: Deadline


def remember(call: RememberCall, *, store: Store, roots: Roots, model: Model) -> dict[str, Any]:
    """Run a remember request; a task that committed before gives its recorded result and runs nothing.

    Returns:
        ``RememberResult`` on the wire; ``recovered`` is true for a recorded result.

    Raises:
        MemlaneError: see ``agent.failures``; nothing was committed.
    """
    started_ms = boot_ms()
    run = _Remember(call, store=store, roots=roots, model=model)
    try:
        return run.run()
    finally:
        _log.info(
            "remember_ended",
            task=call.task.id,
            ending=run.ending,
            model_calls=run.usage.model_calls,
            ms=boot_ms() - started_ms,
        )


class _Remember:
    def __init__(self, call: RememberCall, *, store: Store, roots: Roots, model: Model) -> None:
        self._call = call
        self._store = store
        self._roots = roots
        self._model = model
        self.usage = Usage()
        self.ending: _Ending = "failed"

    def run(self) -> dict[str, Any]:
        self._call.deadline.check()
        recorded = self._store.seal(self._call.task)
        if recorded is not None:
            return self._recovered(recorded)
        for _ in range(MAX_RERUNS):
            try:
                return self._run_once()
            except CommitConflict as conflict:
                _log.debug("remember_conflict", task=self._call.task.id, documents=len(conflict.paths))
                if self._call.deadline.remaining_ms() < MIN_RERUN_MS:
                    raise
        return self._run_once()

    def _recovered(self, recorded: dict[str, Any]) -> dict[str, Any]:
        self.ending = "recovered"
        return recorded | {"recovered": True}

    def _run_once(self) -> dict[str, Any]:
        params = self._call.params
        self._call.deadline.check()
        writable = frozenset({params.scope} if params.scope else SCOPES)
        transaction = self._store.begin(self._call.task, self._roots, writable=writable)
        is_clean = params.context_mode == "clean"
        memory_tools = MemoryTools(
            transaction,
            deadline=self._call.deadline,
            allowed=tools.WRITING_TOOLS if is_clean else tools.ALL_TOOLS,
            max_new=MAX_NEW_DOCUMENTS,
        )
        agent = _agent(transaction, params.content, is_clean=is_clean)
        run = run_headless(agent, model=self._model, tools=memory_tools, deadline=self._call.deadline)
        self.usage = add_usage(self.usage, run.usage)
        _require_saved(run, memory_tools)
        if not transaction.changes:
            return self._commit(transaction, _known(transaction, memory_tools.written[0]), ending="known")
        stamp_documents(transaction, self._call.task)
        summary = _summary(run.text) or _sentence(transaction)
        return self._commit(transaction, summary, ending="saved")

    def _commit(self, transaction: Transaction, summary: str, *, ending: _Ending) -> dict[str, Any]:
        self._call.deadline.check()
        try:
            result = self._store.commit(transaction, result_of=lambda commit: self._result(commit, summary))
        except (StoreBusy, StoreUnusable):
            # the journal may have been written before the failure; only the store knows
            recorded = self._recorded()
            if recorded is None:
                raise
            result = recorded
        self.ending = ending
        return result

    def _recorded(self) -> dict[str, Any] | None:
        """The recorded result of a commit that failed; None also when there is no time left to ask."""
        with suppress(MemlaneError):
            self._call.deadline.check()
            return self._store.resolve(self._call.task, close=False)
        return None

    def _result(self, commit: Commit, summary: str) -> dict[str, Any]:
        result = RememberResult(
            summary=summary,
            files_touched=[str(path) for path in commit.files_touched],
            touched_scopes=list(commit.touched_scopes),
            revision=commit.revision,
            usage=self.usage,
        )
        return result.to_wire()


def _agent(transaction: Transaction, content: str, *, is_clean: bool) -> HeadlessAgent:
    folders = {scope: str(transaction.roots.of(scope)) for scope in SCOPES if scope in transaction.writable}
    indexes = None if is_clean else {scope: _index(transaction, root) for scope, root in folders.items()}
    environment = None if is_clean else {"date": today(), "system": _SYSTEMS.get(sys.platform, sys.platform)}
    return HeadlessAgent(
        name=AGENT_NAME,
        system=remember_system(folders, indexes=indexes),
        order=remember_order(Order(content, folders), environment=environment),
        max_turns=MAX_TURNS,
    )


def _index(transaction: Transaction, root: str) -> str:
    try:
        text = transaction.read(f"{root}/{INDEX_NAME}").decode("utf-8", "replace")
    except InputError:  # none yet, or something that a person put in its place
        return ""
    return text[:MAX_INDEX_CHARACTERS]


def _require_saved(run: HeadlessRun, memory_tools: MemoryTools) -> None:
    if run.ending == "saved":
        return
    for problem in memory_tools.problems:
        raise problem
    if run.ending == "answered":
        raise NoUpdate("the agent wrote no memory")
    raise RunStopped("MAX_TURNS" if run.ending == "turns" else "NO_PROGRESS")


def _summary(text: str) -> str:
    return " ".join(text.split())[:MAX_SUMMARY_CHARACTERS]


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
