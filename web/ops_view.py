"""How lanes, workers and the audit look to operators."""

from core.clock import rfc3339
from core.workspaces import Workspace
from jobs.audit import ActOutcome, Entry
from jobs.board import LaneLease, LaneView, Load, RunningTask, WorkerView
from web.answers import Shown


class ShownRun(Shown):
    """The task that runs in a lane."""

    task_id: str
    kind: str
    attempt: int


class ShownLease(Shown):
    """Which worker is at a lane, since when, and until when unless it renews that."""

    owner: str
    since: str
    expires: str


class ShownLane(Shown):
    """How a lane stands: ``depth`` tasks are queued, the oldest for ``oldest_age_ms``."""

    workspace_id: str
    cwd: str
    depth: int
    oldest_age_ms: int | None
    running: ShownRun | None
    lease: ShownLease | None
    held: bool


class LaneList(Shown):
    """The lanes of the workspaces that are served, as far as the token may know them."""

    lanes: list[ShownLane]


class ShownWorker(Shown):
    """A worker that lives."""

    worker_id: str
    host: str
    pid: int
    threads: int
    model: str
    deployment: str
    expires: str


class WorkerList(Shown):
    """The workers of all workspaces."""

    workers: list[ShownWorker]


class Stats(Shown):
    """Counters of all lanes, and how far the workers are behind."""

    counters: dict[str, int]
    waiting_lanes: int
    oldest_wait_ms: int


class ShownAct(Shown):
    """An act on record."""

    at: str
    token: str
    action: str
    target: str
    status: int
    outcome: ActOutcome
    code: str | None
    workspace_id: str | None
    client_id: str | None
    request_id: str | None


class ActList(Shown):
    """Acts, newest first."""

    entries: list[ShownAct]
    next_cursor: str | None


def show_lane(view: LaneView, workspace: Workspace) -> ShownLane:
    """Render a lane."""
    return ShownLane(
        workspace_id=workspace.id,
        cwd=workspace.path,
        depth=view.depth,
        oldest_age_ms=view.oldest_age_ms,
        running=None if view.running is None else _run(view.running),
        lease=None if view.lease is None else _lease(view.lease),
        held=view.is_held,
    )


def show_worker(view: WorkerView) -> ShownWorker:
    """Render a worker."""
    return ShownWorker(
        worker_id=view.id,
        host=view.host,
        pid=view.pid,
        threads=view.threads,
        model=view.model,
        deployment=view.deployment,
        expires=rfc3339(view.expires_ms),
    )


def show_load(load: Load) -> Stats:
    """Render counters."""
    return Stats(counters=dict(load.counters), waiting_lanes=load.waiting, oldest_wait_ms=load.oldest_wait_ms)


def show_act(entry: Entry) -> ShownAct:
    """Render an act."""
    act = entry.act
    return ShownAct(
        at=rfc3339(entry.at_ms),
        token=act.token,
        action=act.action,
        target=act.target,
        status=act.status,
        outcome=act.outcome,
        code=act.code,
        workspace_id=act.workspace,
        client_id=act.client_id,
        request_id=act.request_id,
    )


def _run(running: RunningTask) -> ShownRun:
    return ShownRun(task_id=running.id, kind=running.kind, attempt=running.attempt)


def _lease(lease: LaneLease) -> ShownLease:
    return ShownLease(owner=lease.owner, since=rfc3339(lease.since_ms), expires=rfc3339(lease.expires_ms))
