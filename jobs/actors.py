"""``run_lane``: where lane, bridge and events meet. A message of its queue is a doorbell without content."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from acp_bridge.bridge import Bridge
from core.acp import Progress
from core.clock import boot_ms
from core.errors import DependencyError
from core.ids import ClaimId, LaneId, WorkspaceId, new_uuid
from core.logs import bound, get_logger
from core.trace import trace_id_of
from core.workspaces import Workspace, Workspaces
from jobs.broker import ACTOR, QUEUE, Doorbell
from jobs.deployment import Deployment
from jobs.keeper import Held, Keeper, Reactions
from jobs.lanes import Finished, Grant, Lanes, Lease, ProgressNote
from jobs.presence import Presence
from jobs.progress import ProgressTeller
from jobs.runs import StopReason, TaskRun
from jobs.tasks import End, Fence

TURN_MS = 100  # what a doorbell costs is spread over the tasks of a turn; longer ones don't feel it
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
    progress: ProgressTeller
    deployment: Deployment
    bridge: Bridge
    workspaces: Workspaces


@dataclass(frozen=True, slots=True)
class LaneRules:
    """How this worker runs lanes.

    Attributes:
        owner: what its claim ids begin with; unique to this process.
        store_id: memory store of this host; lanes registered with another are left alone.
        batch: most tasks of one lane in one turn.
        child_ms: how long a child may go on after a renewal of the lease that it runs under.
    """

    owner: str
    store_id: str
    batch: int
    child_ms: int


@dataclass(slots=True)
class _Turn:
    """A lane's turn on a thread.

    Attributes:
        lane: as the memory store knows it.
        left: how many tasks may still be started.
        ends_ms: until then other lanes don't count, in milliseconds since boot.
    """

    workspace: Workspace
    lane: LaneId
    left: int
    ends_ms: int


class LaneRunner:
    """Runs the head tasks of lanes, each on the thread that dramatiq calls it on."""

    def __init__(self, parts: LaneParts, rules: LaneRules) -> None:
        self._parts = parts
        self._rules = rules
        self._draining = threading.Event()
        self._turns = 0
        self._halted = threading.Event()
        self._runs: list[tuple[WorkspaceId, TaskRun]] = []
        self._changed = threading.Condition()

    def drain(self) -> None:
        """Take no further task; what runs goes on."""
        self._draining.set()

    def wait_idle(self, timeout_s: float) -> bool:
        """Wait until no lane has its turn; False when the time was up first."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._turns, timeout=timeout_s)

    def stop_all(self) -> None:
        """Have all runs end and be handed back, those that are about to begin too; may be repeated."""
        self._halted.set()
        for run in self._running():
            run.stop("shutdown")

    def cancel(self, workspace: WorkspaceId, task_id: str) -> None:
        """Stop a task that somebody cancelled, if it runs here."""
        for run in self._running(workspace):
            if run.grant.task.id == task_id:
                run.stop("cancel")

    def run_lane(self, workspace_id: str, stamp_ms: int, passes: int = 0) -> None:
        """Give the lane its turn: its head task, and further ones until the turn is over.

        A turn is over when the lane has no more work, after ``batch`` tasks, and, once it has lasted
        ``TURN_MS``, as soon as another lane waits.

        Args:
            stamp_ms: when the ring was asked for, Redis time; it says nothing about what there is to do.
            passes: how many workers that don't serve the lane had this ring before.
        """
        workspace = self._parts.workspaces.by_id(workspace_id)
        if workspace is None:
            _log.debug("lane_not_served_here", workspace=workspace_id)
            self._parts.doorbell.pass_on(WorkspaceId(workspace_id), stamp_ms, passes=passes)
            return
        with self._counted():
            if self._draining.is_set():
                self._parts.doorbell.ring(workspace.id, stamp_ms)
            else:
                self._take_turn(workspace)

    def _take_turn(self, workspace: Workspace) -> None:
        lane = self._persist(lambda: self._parts.deployment.lane_of(workspace.id), tries=CLAIM_TRIES)
        if lane is None:
            return
        turn = _Turn(workspace, lane, left=self._rules.batch, ends_ms=boot_ms() + TURN_MS)
        grant = self._claim(workspace.id)
        while grant is not None:
            turn.left -= 1
            grant = self._run(turn, grant)

    def _run(self, turn: _Turn, grant: Grant) -> Grant | None:
        """Run a granted task to its end; returns the next one, if the turn goes on and there is one."""
        task, workspace = grant.task, turn.workspace
        run = self._begin(turn, grant)
        lease = Lease(workspace.id, grant.claim, grant.fence)
        with (
            bound(request_id=task.request_id, trace_id=trace_id_of(task.traceparent)),
            self._stoppable(run, workspace.id),
            self._parts.keeper.holding(lease, self._reactions(run, workspace)) as held,
        ):
            _log.info("task_started", task=task.id, attempt=task.attempt, mode=grant.mode)
            end = run.execute(lambda at_least: self._refence(held, at_least))
            self._note_availability(workspace.id, end)
            if not self._scrub(end):
                return None
            if end.status == "queued" or self._is_over(turn):
                self._finish(workspace.id, run.grant, end)
                return None
            return self._finish_and_claim(workspace.id, run.grant, end)

    def _scrub(self, end: End) -> bool:
        """Take away what a purge names, before its end is told; False if that could not be done.

        The end is not told then either: whoever takes the task over purges, and comes here, again.
        """
        return all(
            self._persist(partial(self._parts.lanes.scrub, workspace, tasks), tries=FINISH_TRIES)
            for workspace, tasks in end.purged.items()
        )

    def _begin(self, turn: _Turn, grant: Grant) -> TaskRun:
        def tell(grant: Grant, progress: Progress) -> None:
            self._parts.progress.note(ProgressNote(turn.workspace.id, grant, progress))

        return TaskRun(self._parts.bridge, turn.workspace, grant, lane=turn.lane, on_progress=tell)

    def _is_over(self, turn: _Turn) -> bool:
        if turn.left <= 0 or self._draining.is_set():
            return True
        return boot_ms() >= turn.ends_ms and self._others_wait()

    def _claim(self, workspace: WorkspaceId) -> Grant | None:
        claim, store_id = self._new_claim(), self._rules.store_id
        return self._persist(
            lambda: self._parts.lanes.claim(workspace, claim, store_id=store_id), tries=CLAIM_TRIES
        )

    def _new_claim(self) -> ClaimId:
        # each claim's own: two deliveries of one message must not look like one claimant
        return ClaimId(f"{self._rules.owner}:{new_uuid()}")

    def _refence(self, held: Held, at_least: int) -> Fence | None:
        try:
            fence = self._parts.lanes.refence(held.lease, at_least=at_least)
        except DependencyError:
            return None
        if fence is not None:
            held.take_fence(fence)
        return fence

    def _finish(self, workspace: WorkspaceId, grant: Grant, end: End) -> None:
        """Report an end that is the turn's last, and have the lane called again if it has more."""
        finished = self._persist(
            lambda: self._parts.lanes.finish_if_current(workspace, grant, end), tries=FINISH_TRIES
        )
        if finished is not None:
            _log_end(grant, end, finished)
            if finished.doorbell_ms is not None:
                self._parts.doorbell.ring(workspace, finished.doorbell_ms)

    def _finish_and_claim(self, workspace: WorkspaceId, grant: Grant, end: End) -> Grant | None:
        claim, store_id = self._new_claim(), self._rules.store_id
        lanes = self._parts.lanes
        done = self._persist(
            lambda: lanes.finish_and_claim(workspace, grant, end, claim=claim, store_id=store_id),
            tries=FINISH_TRIES,
        )
        if done is None:
            return None
        finished, following = done
        _log_end(grant, end, finished)
        return following

    def _persist(self, call: Callable[[], Answer], *, tries: int) -> Answer | None:
        """Repeat a call that is safe to repeat until Redis answers; None when it never did.

        A process that has to stop tries once more, then leaves it to whoever takes the lane over.
        """
        for attempt in range(tries):
            is_last = self._halted.is_set()
            try:
                return call()
            except DependencyError as error:
                _log.warning("storage_unavailable", reason=str(error))
                if is_last:
                    break
                self._halted.wait(min(RETRY_S * (attempt + 1), MAX_RETRY_S))
        return None

    def _reactions(self, run: TaskRun, workspace: Workspace) -> Reactions:
        def stop(reason: StopReason) -> Callable[[], bool]:
            return lambda: run.stop(reason)

        extend = self._parts.bridge.extend
        return Reactions(
            lost=stop("lost"),
            cancel=stop("cancel"),
            kept=lambda: extend(workspace.path, self._rules.child_ms),
        )

    @contextmanager
    def _counted(self) -> Iterator[None]:
        with self._changed:
            self._turns += 1
        try:
            yield
        finally:
            with self._changed:
                self._turns -= 1
                self._changed.notify_all()

    @contextmanager
    def _stoppable(self, run: TaskRun, workspace: WorkspaceId) -> Iterator[None]:
        with self._changed:
            self._runs.append((workspace, run))
        if self._halted.is_set():
            run.stop("shutdown")
        try:
            yield
        finally:
            with self._changed:
                self._runs.remove((workspace, run))

    def _running(self, workspace: WorkspaceId | None = None) -> list[TaskRun]:
        with self._changed:
            return [run for name, run in self._runs if workspace in (None, name)]

    def _note_availability(self, workspace: WorkspaceId, end: End) -> None:
        if end.status == "completed" or end.code == "managed_memory_unavailable":
            self._parts.presence.note(workspace, available=end.status == "completed")

    def _others_wait(self) -> bool:
        try:
            return self._parts.doorbell.waiting() > 0
        except DependencyError:
            return True


def declare_actor(broker: RedisBroker, runner: LaneRunner) -> None:
    """Make the broker deliver doorbells to the runner."""

    def run_lane(workspace_id: str, stamp_ms: int, passes: int = 0) -> None:
        try:
            runner.run_lane(workspace_id, stamp_ms, passes)
        except Exception:  # noqa: BLE001 - outermost frame: the lease runs out and the lane is rung again
            _log.exception("run_lane_broken", workspace=workspace_id)

    dramatiq.actor(broker=broker, actor_name=ACTOR, queue_name=QUEUE)(run_lane)


def _log_end(grant: Grant, end: End, finished: Finished) -> None:
    event = "task_ended" if finished.answer != "fenced" else "task_end_fenced"
    _log.info(event, task=grant.task.id, status=end.status, code=end.code, cause=end.cause)
