"""How a task of any kind runs: sealed, staged on a transaction, again after a conflict, committed once."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agent.deadline import Deadline
from agent.models.interface import Model
from agent.models.metering import Meter, MeteredModel
from agent.secrecy import keep_out, shown
from core.acp import RESERVE_MS, Scope, TaskResult
from core.clock import boot_ms
from core.errors import MemlaneError
from core.logs import get_logger
from core.settings import SecretPolicy
from memory.errors import CommitConflict, StoreBusy, StoreUnusable
from memory.lock import HOLD_MS, WAIT_MS
from memory.paths import Roots
from memory.store import Commit, FencedTask, Store
from memory.transaction import Transaction

MAX_RERUNS = 3
MIN_RERUN_MS = 60_000
# A commit that begins as late as it may still ends, and is answered, before the bridge gives up on us.
COMMIT_RESERVE_MS = WAIT_MS + HOLD_MS - RESERVE_MS + 1_000

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Bench:
    """What tasks work with.

    Attributes:
        fast_model: for short questions whose answer has to be the same each time.
        secrets: what is done with secrets on their way into memory.
    """

    store: Store
    roots: Roots
    model: Model
    fast_model: Model
    secrets: SecretPolicy


@dataclass(frozen=True, slots=True)
class TaskCall:
    """A task as the child took it.

    Attributes:
        deadline: when the last step that may wait for the store has to begin; ``COMMIT_RESERVE_MS``
            before the moment at which the task's time is over.
    """

    task: FencedTask
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class Attempt:
    """One run of a task on memory as it is now; the models are metered.

    Attributes:
        transaction: fresh; what is staged here is what gets committed.
    """

    transaction: Transaction
    model: Model
    fast_model: Model
    secrets: SecretPolicy
    deadline: Deadline


@dataclass(frozen=True, slots=True)
class Staged:
    """What an attempt came to.

    Attributes:
        ending: a word for the log.
        result_of: makes the task's result of what will be committed; its usage is filled in afterwards, and
            its summary is freed from secrets.
    """

    ending: str
    result_of: Callable[[Commit], TaskResult]


@dataclass(frozen=True, slots=True)
class Work:
    """What a kind of task does.

    Attributes:
        writable: scopes whose documents may change.
        stage: stages the changes of one attempt; called again, on a fresh transaction, after a conflict.
    """

    writable: frozenset[Scope]
    stage: Callable[[Attempt], Staged]


def run_task(work: Work, call: TaskCall, bench: Bench) -> dict[str, Any]:
    """Run a task; one that committed before gives its recorded result and runs nothing.

    Returns:
        The result on the wire; ``recovered`` is true for a recorded one.

    Raises:
        MemlaneError: see ``agent.failures``; nothing was committed.
    """
    started_ms = boot_ms()
    run = _TaskRun(work, call, bench)
    try:
        return run.run()
    finally:
        _log.info(
            f"{call.task.kind}_ended",
            task=call.task.id,
            ending=run.ending,
            model_calls=run.meter.usage.model_calls,
            ms=boot_ms() - started_ms,
        )


class _TaskRun:
    def __init__(self, work: Work, call: TaskCall, bench: Bench) -> None:
        self._work = work
        self._call = call
        self._bench = bench
        self.meter = Meter()
        self.ending = "failed"

    def run(self) -> dict[str, Any]:
        self._call.deadline.check()
        recorded = self._bench.store.seal(self._call.task)
        if recorded is not None:
            self.ending = "recovered"
            return recorded | {"recovered": True}
        for _ in range(MAX_RERUNS):
            try:
                return self._run_once()
            except CommitConflict as conflict:
                _log.debug("task_conflict", task=self._call.task.id, documents=len(conflict.paths))
                if self._call.deadline.remaining_ms() < MIN_RERUN_MS:
                    raise
        return self._run_once()

    def _run_once(self) -> dict[str, Any]:
        bench, deadline = self._bench, self._call.deadline
        deadline.check()
        transaction = bench.store.begin(self._call.task, bench.roots, writable=self._work.writable)
        attempt = Attempt(
            transaction,
            model=MeteredModel(bench.model, self.meter),
            fast_model=MeteredModel(bench.fast_model, self.meter),
            secrets=bench.secrets,
            deadline=deadline,
        )
        staged = self._work.stage(attempt)
        keep_out(transaction, bench.secrets)
        deadline.check()
        result = self._commit(transaction, staged)
        self.ending = staged.ending
        return result

    def _commit(self, transaction: Transaction, staged: Staged) -> dict[str, Any]:
        try:
            return self._bench.store.commit(
                transaction, result_of=lambda commit: self._completed(staged.result_of(commit))
            )
        except (StoreBusy, StoreUnusable):
            # the journal may have been written before the failure; only the store knows
            recorded = self._recorded()
            if recorded is None:
                raise
            return recorded

    def _completed(self, result: TaskResult) -> dict[str, Any]:
        summary = shown(result.summary, self._bench.secrets)
        return result.model_copy(update={"summary": summary, "usage": self.meter.usage}).to_wire()

    def _recorded(self) -> dict[str, Any] | None:
        """The recorded result of a commit that failed; None also when there is no time left to ask."""
        with suppress(MemlaneError):
            self._call.deadline.check()
            return self._bench.store.resolve(self._call.task, close=False)
        return None
