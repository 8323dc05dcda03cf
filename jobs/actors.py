"""``run_lane``: where lane, bridge and events meet. A message of its queue is a doorbell without content."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from acp_bridge.bridge import Bridge
from core.errors import DependencyError
from core.ids import ClaimId, WorkspaceId, new_uuid
from core.logs import get_logger
from core.workspaces import Workspace, Workspaces
from jobs.broker import ACTOR, QUEUE, Doorbell
from jobs.keeper import Held, Keeper, Reactions
from jobs.lanes import Grant, Lanes, Lease
from jobs.presence import Presence
from jobs.runs import StopReason, TaskRun
from jobs.tasks import End, Fence

CLAIM_TRIES = 3
RETRY_S = 0.25
MAX_RETRY_S = 2.0
FINISH_TRIES = 300  # about ten minutes; then the lease has long run out and another worker resolves

_log = get_logger(__name__)

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class LaneParts:
    """What running lanes takes."""

    lanes: Lanes
    keeper: Keeper
    doorbell: Doorbell
    presence: Presence
    bridge: Bridge
    workspaces: Workspaces


@dataclass(frozen=True, slots=True)
class LaneRules:
    """How this worker runs lanes.

    Attributes:
        owner: what its claim ids begin with; unique to this process.
        store_id: memory store of this host; lanes registered with another are left alone.
        batch: tasks of one lane in a row while no other lane waits.
        child_ms: how long a child may go on after a renewal of the lease that it runs under.
    """

    owner: str
    deployment: str
    store_id: str
    batch: int
    child_ms: int


class LaneRunner:
    """Runs the head tasks of lanes, each on the thread that dramatiq calls it on."""

    def __init__(self, parts: LaneParts, rules: LaneRules) -> None:
        self._parts = parts
        self._rules = rules
        self._draining = threading.Event()
        self._pause = threading.Event()  # never set: a wait on it is a pause
        self._runs: list[tuple[WorkspaceId, TaskRun]] = []
        self._changed = threading.Condition()

    def drain(self) -> None:
        """Take no further task; what runs goes on."""
        self._draining.set()

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until no task runs; False when the time was up first."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._runs, timeout=timeout_s)

    def stop_all(self) -> None:
        """Have all runs end and be handed back; may be repeated."""
        for run in self._running():
            run.stop("shutdown")

    def cancel(self, workspace: WorkspaceId, task_id: str) -> None:
        """Stop a task that somebody cancelled, if it runs here."""
        for run in self._running(workspace):
            if run.grant.task.id == task_id:
                run.stop("cancel")

    def run_lane(self, workspace_id: str, stamp_ms: int) -> None:
        """Run the lane's head task; further ones while nobody else waits.

        Args:
            stamp_ms: when the ring was asked for, Redis time; it says nothing about what there is to do.
        """
        workspace = self._parts.workspaces.by_id(workspace_id)
        if workspace is None:
            _log.warning("lane_not_served_here", workspace=workspace_id)
            return
        next_stamp: int | None = stamp_ms
        for _ in range(self._rules.batch):
            if self._draining.is_set():
                break
            next_stamp = self._run_head(workspace)
            if next_stamp is None or self._others_wait():
                break
        if next_stamp is not None:
            self._parts.doorbell.ring(workspace.id, next_stamp)

    def _run_head(self, workspace: Workspace) -> int | None:
        grant = self._claim(workspace)
        if grant is None:
            return None
        _log.info("task_started", task=grant.task.id, attempt=grant.task.attempt, mode=grant.mode)
        run = TaskRun(self._parts.bridge, workspace, grant, deployment=self._rules.deployment)
        lease = Lease(workspace.id, grant.claim, grant.fence)
        with (
            self._counted(run, workspace),
            self._parts.keeper.holding(lease, self._reactions(run, workspace)) as held,
        ):
            end = run.execute(lambda at_least: self._refence(held, at_least))
            self._note_availability(workspace, end)
            return self._finish(workspace, run.grant, end)

    def _claim(self, workspace: Workspace) -> Grant | None:
        # the claim id is this execution's own: two deliveries of one message must not look like one claimant
        claim = ClaimId(f"{self._rules.owner}:{new_uuid()}")
        store_id = self._rules.store_id
        return self._persist(
            lambda: self._parts.lanes.claim(workspace.id, claim, store_id=store_id), tries=CLAIM_TRIES
        )

    def _refence(self, held: Held, at_least: int) -> Fence | None:
        try:
            fence = self._parts.lanes.refence(held.lease, at_least=at_least)
        except DependencyError:
            return None
        if fence is not None:
            held.take_fence(fence)
        return fence

    def _finish(self, workspace: Workspace, grant: Grant, end: End) -> int | None:
        finished = self._persist(
            lambda: self._parts.lanes.finish_if_current(workspace.id, grant, end), tries=FINISH_TRIES
        )
        if finished is None:
            return None
        event = "task_ended" if finished.answer != "fenced" else "task_end_fenced"
        _log.info(event, task=grant.task.id, status=end.status, code=end.code, cause=end.cause)
        return finished.doorbell_ms

    def _persist(self, call: Callable[[], Answer], *, tries: int) -> Answer | None:
        """Repeat a call that is safe to repeat until Redis answers; None when it never did."""
        for attempt in range(tries):
            try:
                return call()
            except DependencyError as error:
                _log.warning("storage_unavailable", reason=str(error))
                self._pause.wait(min(RETRY_S * (attempt + 1), MAX_RETRY_S))
        return None

    def _reactions(self, run: TaskRun, workspace: Workspace) -> Reactions:
        def stop(reason: StopReason) -> Callable[[], None]:
            return lambda: run.stop(reason)

        extend = self._parts.bridge.extend
        return Reactions(
            lost=stop("lost"),
            cancel=stop("cancel"),
            kept=lambda: extend(workspace.path, self._rules.child_ms),
        )

    @contextmanager
    def _counted(self, run: TaskRun, workspace: Workspace) -> Iterator[None]:
        with self._changed:
            self._runs.append((workspace.id, run))
        try:
            yield
        finally:
            with self._changed:
                self._runs.remove((workspace.id, run))
                self._changed.notify_all()

    def _running(self, workspace: WorkspaceId | None = None) -> list[TaskRun]:
        with self._changed:
            return [run for name, run in self._runs if workspace in (None, name)]

    def _note_availability(self, workspace: Workspace, end: End) -> None:
        if end.status == "completed" or end.code == "managed_memory_unavailable":
            self._parts.presence.note(workspace.id, available=end.status == "completed")

    def _others_wait(self) -> bool:
        try:
            return self._parts.doorbell.waiting() > 0
        except DependencyError:
            return True


def declare_actor(broker: RedisBroker, runner: LaneRunner) -> None:
    """Make the broker deliver doorbells to the runner."""

    def run_lane(workspace_id: str, stamp_ms: int) -> None:
        try:
            runner.run_lane(workspace_id, stamp_ms)
        except Exception:  # noqa: BLE001 - outermost frame: the lease runs out and the lane is rung again
            _log.exception("run_lane_broken", workspace=workspace_id)

    dramatiq.actor(broker=broker, actor_name=ACTOR, queue_name=QUEUE)(run_lane)
