"""How lanes, workers and the audit look to operators."""

from core.clock import rfc3339
from core.workspaces import Workspace
from events.chat.board import ChannelStanding
from jobs.audit import RecordedAct
from jobs.board import LaneLease, LaneView, Load, RunningTask, WorkerView
from web.answers.operators import ShownAct, ShownChannel, ShownLane, ShownLease, ShownRun, ShownWorker, Stats


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


def show_channel(standing: ChannelStanding) -> ShownChannel:
    """Render how a chat channel stands."""
    channel = standing.channel
    return ShownChannel(
        name=channel.name,
        type=channel.type,
        workspace_id=channel.workspace,
        state=standing.state,
        since=None if standing.since_ms is None else rfc3339(standing.since_ms),
        reason=standing.reason,
        process=standing.process,
        waiting=standing.waiting,
    )


def show_load(load: Load) -> Stats:
    """Render counters."""
    return Stats(counters=dict(load.counters), waiting_lanes=load.waiting, oldest_wait_ms=load.oldest_wait_ms)


def show_act(recorded: RecordedAct) -> ShownAct:
    """Render an act."""
    act = recorded.act
    return ShownAct(
        at=rfc3339(recorded.at_ms),
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
