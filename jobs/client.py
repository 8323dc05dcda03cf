"""What the web may do with jobs: submit, look up, list, cancel, ask whether the service is fit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.clock import boot_ms
from core.errors import InputError, StateError
from core.ids import Kind, TaskId, WorkspaceId, is_task_id, new_task_id
from core.keys import LaneKeys
from core.logs import get_logger
from core.settings import Settings
from events.connect import connect, storage_errors
from events.errors import StorageUnavailable
from jobs.broker import Doorbell, open_broker
from jobs.errors import RedisUnfit, TaskFinished
from jobs.intake import Accepted, Gate, Intake
from jobs.limits import LaneLimits, limits_of
from jobs.registry import WorkerRegistry
from jobs.requirements import check_redis
from jobs.store import TaskFilter, TaskPage, TaskStore
from jobs.tasks import Submission, Task, TaskOutline
from jobs.viewer import Viewer

if TYPE_CHECKING:
    import redis

LOAD_LIFE_MS = 1_000
GLANCE_S = 0.5
START_CHECK_S = 2.0

_log = get_logger(__name__)


def open_jobs(settings: Settings, *, is_checked: bool = True) -> "JobsClient":
    """Make a client from settings; connects when first used.

    Args:
        is_checked: whether Redis was found to be fit, see ``require_fit_redis``. If not, it is looked at
            before the first task is accepted.

    Raises:
        ConfigError: no Redis is configured.
    """
    client = connect(settings.state)
    glance = WorkerRegistry(connect(settings.state, timeout_s=GLANCE_S, retries=0))
    jobs = JobsClient(client, Doorbell(open_broker(settings), client), limits_of(settings), glance=glance)
    jobs.require_fit(strict=_is_strict(settings), is_checked=is_checked)
    return jobs


def require_fit_redis(settings: Settings) -> bool:
    """Refuse to start on a Redis that may lose what is accepted.

    Returns:
        False when it is away and could not be looked at.

    Raises:
        ConfigError: see ``jobs.requirements.check_redis``; the message names the mend.
    """
    client = connect(settings.state, timeout_s=START_CHECK_S, retries=0)
    try:
        check_redis(client, strict=_is_strict(settings))
    except StorageUnavailable as error:
        _log.warning("redis_away", reason=str(error))
        return False
    else:
        return True
    finally:
        client.close()


def _is_strict(settings: Settings) -> bool:
    return settings.redis_check == "refuse"


def count_waiting(state_url: str, workspaces: Iterable[WorkspaceId], *, timeout_s: float) -> int:
    """Count the tasks that wait for a worker.

    Args:
        timeout_s: longest wait for Redis, seconds.

    Raises:
        StorageUnavailable: Redis gave no answer.
    """
    with closing(connect(state_url, timeout_s=timeout_s)) as client, storage_errors():
        return sum(int(client.llen(LaneKeys(workspace).pending)) for workspace in workspaces)


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether tasks can be served.

    Attributes:
        storage: Redis answers.
        persistence: what is wrong with how Redis keeps data, None when nothing is.
    """

    storage: bool
    persistence: str | None = None

    @property
    def is_fit(self) -> bool:
        """Whether what is accepted now would be kept."""
        return self.storage and self.persistence is None


@dataclass(frozen=True, slots=True)
class Submitted:
    """A task that was accepted, now or before.

    Attributes:
        made_by: the idempotency key that had made it before; None when it is new.
    """

    task: Task
    made_by: str | None = None


class JobsClient:
    """Submits and finds tasks. Safe for use by many threads."""

    def __init__(
        self,
        client: "redis.Redis",
        doorbell: Doorbell,
        limits: LaneLimits,
        *,
        glance: WorkerRegistry | None = None,
    ) -> None:
        """Bind the parts.

        Args:
            glance: a registry on a connection without patience, for what is told only if it is at hand.
        """
        self._redis = client
        self._doorbell = doorbell
        self._limits = limits
        self._intake = Intake(client, limits)
        self._store = TaskStore(client)
        self._registry = WorkerRegistry(client)
        self._glance = glance or self._registry
        self._check: Callable[[], None] | None = None
        self._must_persist = False
        self._overloaded = False
        self._load_known_until_ms = 0

    def require_fit(self, *, strict: bool, is_checked: bool) -> None:
        """Accept nothing while Redis may lose it, as seen within the last second.

        Args:
            strict: as for ``jobs.requirements.check_redis``.
            is_checked: whether it was checked as a whole; if not, that is done before the first task.
        """
        self._must_persist = strict
        if not is_checked:
            self._check = lambda: check_redis(self._redis, strict=strict)

    def submit(self, workspace: WorkspaceId, submission: Submission) -> Task:
        """Accept a task, as ``accept`` does, when it is all the same whether that was done before."""
        return self.accept(workspace, submission).task

    def accept(
        self, workspace: WorkspaceId, submission: Submission, *, check: Callable[[], None] | None = None
    ) -> Submitted:
        """Accept a task: once this returns it is durable and will reach an end.

        Args:
            check: refuses, by raising, what is known to come to nothing. It is not asked when one of the
                idempotency keys has made a task: what was accepted stays so.

        Raises:
            QueueFull: a cap is reached.
            MemoryUnavailable: every live worker says that managed memory can't be used there.
            Overloaded: the workers are far behind and the lane is idle.
            IdempotencyMismatch, IdempotencyConflict: a key was used for something else, or is forgotten.
            InputGone: the request of the task to retry is not kept any more.
            StorageFull: Redis is out of memory. By none of these anything was accepted.
            StorageUnavailable: no answer; the task may or may not have been accepted. Or Redis is not fit,
                and nothing was.
        """
        self._require_checked()
        if check is not None:
            self._check_new(workspace, submission.idempotency_keys, check)
        task_id = new_task_id(submission.kind)
        accepted = self._intake.submit(workspace, task_id, submission, gate=self._gate(workspace))
        if not accepted.fresh:  # an idempotency key, or the reply of a first try was lost on the wire
            return Submitted(self._repeated(workspace, submission.kind, accepted.task), accepted.made_by)
        if accepted.doorbell_ms is not None:
            self._doorbell.ring(workspace, accepted.doorbell_ms)
        return Submitted(_fresh_task(workspace, submission, accepted))

    def cancel(self, workspace: WorkspaceId, kind: Kind, task_id: str, *, viewer: Viewer) -> Task | None:
        """Cancel a task: at once if it never ran, else it is told to stop.

        A task that has committed by then completes.

        Returns:
            The task as it stands now; None where ``find`` finds none.

        Raises:
            TaskFinished: it has ended.
            StorageUnavailable: no answer; repeat.
        """
        if not is_task_id(task_id, kind) or self.find(workspace, kind, task_id, viewer=viewer) is None:
            return None
        answer = self._intake.cancel(workspace, TaskId(task_id))
        if answer == "terminal":
            raise TaskFinished("The task has ended already.")
        return self._store.find(workspace, kind, task_id)

    def page(
        self, workspace: WorkspaceId, wanted: TaskFilter, *, limit: int, cursor: int | None = None
    ) -> TaskPage:
        """List tasks without their results, newest first.

        Args:
            limit: 1 to 200.
            cursor: ``next_cursor`` of the page before.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        return self._store.page(workspace, wanted, limit=limit, cursor=cursor)

    def outlines(self, workspace: WorkspaceId) -> Iterator[TaskOutline]:
        """What tasks of all clients came to, newest first; read as far as it is asked for.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        return self._store.outlines(workspace)

    def find(self, workspace: WorkspaceId, kind: Kind, task_id: str, *, viewer: Viewer) -> Task | None:
        """Look a task up; None for unknown, evicted, other kind, other workspace, or not the viewer's to see.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        task = self._store.find(workspace, kind, task_id)
        return task if task is not None and viewer.may_see(task.client_id) else None

    def made_by(self, workspace: WorkspaceId, kind: Kind, idempotency_key: str) -> Task | None:
        """The task that an idempotency key has made; None when there is none (any more).

        Args:
            idempotency_key: a digest, as of a ``Submission``.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        return self._store.made_by(workspace, kind, idempotency_key)

    def is_idle(self, workspace: WorkspaceId) -> bool:
        """Whether nothing is queued or runs, so that what is in memory now is what a new task would meet.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        return self._store.is_idle(workspace)

    def models(self) -> set[str]:
        """Which models the agents of the live workers use.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        return self._glance.models()

    def ready(self) -> Readiness:
        """Check Redis and how it persists. Never fails."""
        try:
            return Readiness(storage=True, persistence=_persistence_problem(self._persistence_facts()))
        except StorageUnavailable:
            return Readiness(storage=False)

    def _require_checked(self) -> None:
        if self._check is None:
            return
        try:
            self._check()
        except RedisUnfit as error:
            raise _unfit(str(error)) from error
        self._check = None

    def _check_new(self, workspace: WorkspaceId, keys: Sequence[str], check: Callable[[], None]) -> None:
        if self._store.knows_any(workspace, keys):
            return
        try:
            check()
        except (InputError, StateError):
            if not self._store.knows_any(workspace, keys):
                raise  # else somebody has just had it done, which is what the check minds

    def _gate(self, workspace: WorkspaceId) -> Gate:
        if not self._registry.is_available(workspace):
            return "closed"
        return "busy" if self._is_overloaded() else "open"

    def _is_overloaded(self) -> bool:
        now_ms = boot_ms()
        if now_ms >= self._load_known_until_ms:
            self._require_persistence()
            waiting, oldest_wait_ms = self._registry.load()
            limits = self._limits
            self._overloaded = waiting > limits.max_waiting_lanes or oldest_wait_ms > limits.max_wait_ms
            self._load_known_until_ms = now_ms + LOAD_LIFE_MS
        return self._overloaded

    def _require_persistence(self) -> None:
        """Look at what can change while the server runs, or when it is started again otherwise."""
        problem = _persistence_problem(self._persistence_facts()) if self._must_persist else None
        if problem is not None:
            raise _unfit(problem)

    def _persistence_facts(self) -> dict[str, Any]:
        with storage_errors():
            return {**self._info("persistence"), **self._info("memory")}

    def _info(self, section: str) -> dict[str, Any]:
        return self._redis.info(section)

    def _repeated(self, workspace: WorkspaceId, kind: Kind, task_id: TaskId) -> Task:
        task = self._store.find(workspace, kind, task_id)
        if task is None:
            raise StorageUnavailable("the record of a task just accepted could not be read")
        return task


def _fresh_task(workspace: WorkspaceId, submission: Submission, accepted: Accepted) -> Task:
    return Task(
        id=accepted.task,
        workspace=workspace,
        kind=submission.kind,
        status="queued",
        created_ms=accepted.accepted_ms,
        updated_ms=accepted.accepted_ms,
        context_mode=submission.context_mode,
        scope=submission.scope,
        client_id=submission.client_id,
        request_id=submission.request_id,
        traceparent=submission.traceparent,
        retry_of=submission.retry_of,
        position=accepted.position,
    )


def _unfit(finding: str) -> StorageUnavailable:
    _log.error("redis_unfit", finding=finding)
    return StorageUnavailable("the state database is not fit")


def _persistence_problem(facts: dict[str, Any]) -> str | None:
    if not facts.get("aof_enabled"):
        return "appendonly is off: accepted tasks would not survive a restart of Redis"
    if facts.get("maxmemory_policy") != "noeviction":
        return "maxmemory-policy is not noeviction: Redis may drop accepted tasks"
    return None
