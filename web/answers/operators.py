"""Answers for operators: lanes, workers, counters, the audit."""

from events.chat.board import ChannelState
from jobs.audit import ActOutcome
from web.answers.shown import Moment, Shown


class ShownRun(Shown):
    """The task that runs in a lane."""

    task_id: str
    kind: str
    attempt: int


class ShownLease(Shown):
    """Which worker is at a lane, since when, and until when unless it renews that."""

    owner: str
    since: Moment
    expires: Moment


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
    expires: Moment


class WorkerList(Shown):
    """The workers of all workspaces."""

    workers: list[ShownWorker]


class ShownChannel(Shown):
    """How a chat channel stands: ``process`` serves it, ``waiting`` messages are not done with."""

    name: str
    type: str
    workspace_id: str
    state: ChannelState
    since: Moment | None
    reason: str | None
    process: str | None
    waiting: int


class ChannelList(Shown):
    """The chat channels of the workspaces that the token may know."""

    channels: list[ShownChannel]


class Stats(Shown):
    """Counters of all lanes, and how far the workers are behind."""

    counters: dict[str, int]
    waiting_lanes: int
    oldest_wait_ms: int


class ShownAct(Shown):
    """An act on record."""

    at: Moment
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
