"""How a task of any kind runs: sealed, staged on a transaction, again after a conflict, committed once."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent.budget import allowed_scopes, require_few_writes
from agent.deadline import Deadline
from agent.models.interface import Model
from agent.models.metering import Meter, MeteredModel
from agent.progress import ProgressWatch, Tell
from agent.quarantine import hold_back
from agent.secrecy import keep_out, shown
from agent.watch import Watch
from core.acp import RESERVE_MS, Scope
from core.clock import boot_ms
from core.logs import get_logger
from core.memory_calls import TaskResult
from core.policies import Policy
from memory.errors import CommitConflict, StoreBusy, StoreUnusable
from memory.lock import HOLD_MS, WAIT_MS
from memory.paths import Roots
from memory.previews import MAX_KEEP_MS
from memory.store import Commit, FencedTask, Store
from memory.transaction import MAX_FILES, Transaction

PREVIEW_LEAD = "Preview: "  # of a dry run's summary, which speaks as if it were done
MAX_RERUNS = 3
MIN_RERUN_MS = 60_000
# A commit that begins as late as it may still ends, and is answered, before the bridge gives up on us.
COMMIT_RESERVE_MS = WAIT_MS + HOLD_MS - RESERVE_MS + 1_000

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Workplace:
    """What tasks work with.

    Attributes:
        fast_model: for short questions whose answer has to be the same each time.
        policy: what the operator lets tasks of this workspace do.
        preview_ms: how long previews can be applied, milliseconds.
    """

    store: Store
    roots: Roots
    model: Model
    fast_model: Model
    policy: Policy
    preview_ms: int = MAX_KEEP_MS


@dataclass(frozen=True, slots=True)
class TaskCall:
    """A task as the child took it.

    Attributes:
        deadline: when the last step that may wait for the store has to begin; ``COMMIT_RESERVE_MS``
            before the moment at which the task's time is over.
        dry_run: whether only to show what would be committed.
        tell: hears how far the task is; None when nobody wants to know.
    """

    task: FencedTask
    deadline: Deadline
    dry_run: bool = False
    tell: Tell | None = None


@dataclass(frozen=True, slots=True)
class Staging:
    """One run of a task on memory as it is now; the models are metered.

    Attributes:
        transaction: fresh; what is staged here is what gets committed.
        watch: is to see what the agent does.
    """

    transaction: Transaction
    model: Model
    fast_model: Model
    policy: Policy
    deadline: Deadline
    watch: Watch


@dataclass(frozen=True, slots=True)
class Staged:
    """What a staging came to.

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
        max_files: how many documents may change.
        holds_back: whether what gives agents orders waits for a person, where the policy says so.
    """

    writable: frozenset[Scope]
    stage: Callable[[Staging], Staged]
    max_files: int = MAX_FILES
    holds_back: bool = True


def run_task(work: Work, call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Run a task; one that committed before gives its recorded result and runs nothing.

    Returns:
        The result on the wire; ``recovered`` is true for a recorded one. Of a dry run it has a ``preview``.

    Raises:
        MemlaneError: see ``agent.failures``; nothing was committed.
    """
    meter = Meter(max_tokens=workplace.policy.max_tokens)
    staged_run = _StagedRun(work, call, workplace, meter=meter)
    return _TaskRun(staged_run.run_once, call, workplace, meter=meter).run()


def run_commit(commit: Callable[[], dict[str, Any]], call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Run a task that the store does alone; one that committed before gives its recorded result.

    Args:
        commit: has the store commit; gives the result on the wire.

    Raises:
        MemlaneError: see ``agent.failures``; nothing was committed.
    """
    meter = Meter()

    def run_once() -> tuple[str, dict[str, Any]]:
        call.deadline.check()
        return "committed", _settled(commit, call, workplace)

    return _TaskRun(run_once, call, workplace, meter=meter).run()


class _TaskRun:
    """Seals, runs again after conflicts, and tells the log how it ended."""

    def __init__(
        self,
        run_once: Callable[[], tuple[str, dict[str, Any]]],
        call: TaskCall,
        workplace: Workplace,
        *,
        meter: Meter,
    ) -> None:
        self._run_once = run_once
        self._call = call
        self._workplace = workplace
        self._meter = meter

    def run(self) -> dict[str, Any]:
        started_ms, ending = boot_ms(), "failed"
        try:
            ending, result = self._run()
            return result
        finally:
            _log.info(
                f"{self._call.task.kind}_ended",
                task=self._call.task.id,
                ending=ending,
                model_calls=self._meter.usage.model_calls,
                ms=boot_ms() - started_ms,
            )

    def _run(self) -> tuple[str, dict[str, Any]]:
        self._call.deadline.check()
        recorded = self._workplace.store.seal(self._call.task)
        if recorded is not None:
            return "recovered", recorded | {"recovered": True}
        for _ in range(MAX_RERUNS):
            try:
                return self._run_once()
            except CommitConflict as conflict:
                _log.debug("task_conflict", task=self._call.task.id, documents=len(conflict.paths))
                if self._call.deadline.remaining_ms() < MIN_RERUN_MS:
                    raise
        return self._run_once()


class _StagedRun:
    """Stages a task's changes on a fresh transaction each time, and commits or shows them."""

    def __init__(self, work: Work, call: TaskCall, workplace: Workplace, *, meter: Meter) -> None:
        self._work = work
        self._call = call
        self._workplace = workplace
        self._meter = meter

    def run_once(self) -> tuple[str, dict[str, Any]]:
        workplace, deadline = self._workplace, self._call.deadline
        deadline.check()
        transaction = workplace.store.begin(
            self._call.task,
            workplace.roots,
            writable=allowed_scopes(self._work.writable, workplace.policy),
            max_files=self._work.max_files,
        )
        staging = Staging(
            transaction,
            model=MeteredModel(workplace.model, self._meter),
            fast_model=MeteredModel(workplace.fast_model, self._meter),
            policy=workplace.policy,
            deadline=deadline,
            watch=ProgressWatch(transaction, tell) if (tell := self._call.tell) else Watch(),
        )
        staged = self._work.stage(staging)
        keep_out(transaction, workplace.policy.secrets)
        if workplace.policy.quarantine and self._work.holds_back:
            hold_back(transaction)
        require_few_writes(transaction, workplace.policy)
        deadline.check()
        return staged.ending, _settled(lambda: self._keep(transaction, staged), self._call, workplace)

    def _keep(self, transaction: Transaction, staged: Staged) -> dict[str, Any]:
        store, keep_ms = self._workplace.store, self._workplace.preview_ms

        def result_of(commit: Commit) -> dict[str, Any]:
            return self._result(staged, commit)

        if self._call.dry_run:
            return store.preview(transaction, result_of=result_of, keep_ms=keep_ms)
        return store.commit(transaction, result_of=result_of)

    def _result(self, staged: Staged, commit: Commit) -> dict[str, Any]:
        self._call.deadline.cancellation.check()  # the store asks for the result last, its lock taken
        result = staged.result_of(commit)
        lead = PREVIEW_LEAD if self._call.dry_run else ""
        summary = lead + shown(result.summary, self._workplace.policy.secrets)
        return result.model_copy(update={"summary": summary, "usage": self._meter.usage}).to_wire()


def _settled(commit: Callable[[], dict[str, Any]], call: TaskCall, workplace: Workplace) -> dict[str, Any]:
    """Commit; a failure that may have come after the commit point is looked into.

    Raises:
        StoreBusy: also when the store can't tell whether it has committed; a task that runs again finds out.
    """
    try:
        return commit()
    except (StoreBusy, StoreUnusable):
        # the journal may have been written before the failure; only the store knows
        recorded = _recorded(call, workplace)
        if recorded is None:
            raise
        return recorded


def _recorded(call: TaskCall, workplace: Workplace) -> dict[str, Any] | None:
    # not the deadline's own check: a task that was called off may have committed all the same
    if call.deadline.remaining_ms() == 0:
        raise StoreBusy("no time is left to tell whether the task has committed")
    try:
        return workplace.store.resolve(call.task, close=False)
    except (StoreBusy, StoreUnusable) as error:
        raise StoreBusy("it can't be told whether the task has committed") from error
