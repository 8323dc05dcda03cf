"""What the web may do with jobs: submit, look up, ask whether the service is fit."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from core.ids import Kind, TaskId, WorkspaceId, new_task_id
from core.settings import Settings
from events.connect import connect, storage_errors
from events.errors import StorageUnavailable
from jobs.broker import Doorbell, open_broker
from jobs.lanes import LaneLimits, Lanes
from jobs.registry import WorkerRegistry
from jobs.store import TaskStore
from jobs.tasks import Submission, Task

if TYPE_CHECKING:
    import redis


def limits_of(settings: Settings) -> LaneLimits:
    """The part of the settings that lanes run with."""
    return LaneLimits(
        lease_ms=settings.lease_ms,
        task_ttl_ms=settings.task_ttl_s * 1000,
        input_keep_ms=settings.input_keep_s * 1000,
        max_attempts=settings.max_attempts,
    )


def open_jobs(settings: Settings) -> "JobsClient":
    """Make a client from settings; connects when first used.

    Raises:
        ConfigError: no Redis is configured.
    """
    return JobsClient(connect(settings.state), Doorbell(open_broker(settings)), limits_of(settings))


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether tasks can be served.

    Attributes:
        storage: Redis answers.
        persistence: what is wrong with how Redis keeps data, None when nothing is.
        workers: live worker processes.
    """

    storage: bool
    persistence: str | None = None
    workers: int = 0


class JobsClient:
    """Submits and finds tasks. Safe for use by many threads."""

    def __init__(self, client: "redis.Redis", doorbell: Doorbell, limits: LaneLimits) -> None:
        self._redis = client
        self._doorbell = doorbell
        self._lanes = Lanes(client, limits)
        self._store = TaskStore(client)
        self._registry = WorkerRegistry(client)

    def submit(self, workspace: WorkspaceId, submission: Submission) -> Task:
        """Accept a task: once this returns it is durable and will reach an end.

        Raises:
            QueueFull: a cap is reached; nothing was accepted.
            StorageFull: Redis is out of memory; nothing was accepted.
            StorageUnavailable: no answer; the task may or may not have been accepted.
        """
        task_id = new_task_id(submission.kind)
        accepted = self._lanes.submit(workspace, task_id, submission)
        if not accepted.fresh:  # the reply of a first try was lost on the wire
            return self._repeated(workspace, submission.kind, task_id)
        if accepted.doorbell_ms is not None:
            self._doorbell.ring(workspace, accepted.doorbell_ms)
        return Task(
            id=task_id,
            workspace=workspace,
            kind=submission.kind,
            status="queued",
            created_ms=accepted.accepted_ms,
            updated_ms=accepted.accepted_ms,
            context_mode=submission.context_mode,
            scope=submission.scope,
            client_id=submission.client_id,
            position=accepted.position,
        )

    def find(self, workspace: WorkspaceId, kind: Kind, task_id: str, *, client_id: str | None) -> Task | None:
        """Look a task up; None for unknown, evicted, other kind, other workspace or another client's.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        task = self._store.find(workspace, kind, task_id)
        if task is None or task.client_id not in (None, client_id):
            return None
        return task

    def available(self, workspace: WorkspaceId) -> bool:
        """False only if every live worker says that managed memory can't be used.

        Raises:
            StorageUnavailable: Redis gave no answer.
        """
        return self._registry.is_available(workspace)

    def is_registered(self, workspace: WorkspaceId, client_id: str) -> bool:  # noqa: ARG002
        """Whether this client id was given out for this workspace; ids are given out by sessions."""
        return False

    def ready(self) -> Readiness:
        """Check Redis, how it persists, and the workers. Never fails."""
        try:
            with storage_errors():
                facts = {**self._info("persistence"), **self._info("memory")}
            return Readiness(
                storage=True, persistence=_persistence_problem(facts), workers=self._registry.count_live()
            )
        except StorageUnavailable:
            return Readiness(storage=False)

    def _info(self, section: str) -> dict[str, Any]:
        return self._redis.info(section)

    def _repeated(self, workspace: WorkspaceId, kind: Kind, task_id: TaskId) -> Task:
        task = self._store.find(workspace, kind, task_id)
        if task is None:
            raise StorageUnavailable("the record of a task just accepted could not be read")
        return task


def _persistence_problem(facts: dict[str, Any]) -> str | None:
    if not facts.get("aof_enabled"):
        return "appendonly is off: accepted tasks would not survive a restart of Redis"
    if facts.get("maxmemory_policy") != "noeviction":
        return "maxmemory-policy is not noeviction: Redis may drop accepted tasks"
    return None
