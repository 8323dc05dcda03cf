"""What the service answers to operators, typed."""

from typing import Literal

from pydantic import Field

from memlane.models import Answer, CursorPage, Moment

# the words of this version; a newer service may say others
ActOutcome = Literal["done", "refused"] | str
ChannelState = Literal["starting", "connected", "unhealthy", "stopped", "unserved"] | str


class LaneRun(Answer):
    """The task that runs in a lane.

    Attributes:
        attempt: which run of the task it is, from 1.
    """

    task_id: str
    kind: str
    attempt: int = 1


class LaneLease(Answer):
    """Which worker is at a lane.

    Attributes:
        owner: the worker's id.
        expires: when it ends unless the worker renews it.
    """

    owner: str
    since: Moment
    expires: Moment


class Lane(Answer):
    """How a workspace's lane stands.

    Attributes:
        cwd: the workspace's path on the service's machine.
        depth: how many tasks are queued.
        oldest_age_ms: for how long the oldest of them has been.
        running: None while nothing runs.
        lease: None while no worker is at it.
        held: whether it starts no further task.
    """

    workspace_id: str
    cwd: str
    depth: int
    oldest_age_ms: int | None = None
    running: LaneRun | None = None
    lease: LaneLease | None = None
    held: bool = False


class Lanes(Answer):
    """The lanes of the workspaces that the token is good for."""

    lanes: tuple[Lane, ...]


class Worker(Answer):
    """A worker that lives.

    Attributes:
        threads: how many lanes it can serve at once.
        expires: when it counts as dead unless it says otherwise.
    """

    worker_id: str
    host: str
    pid: int
    threads: int = 1
    model: str = ""
    deployment: str = ""
    expires: Moment | None = None


class Workers(Answer):
    """The workers of all workspaces."""

    workers: tuple[Worker, ...]


class Channel(Answer):
    """How a chat channel stands.

    Attributes:
        state: ``unhealthy`` while it hears nothing and tries again, ``stopped`` after a failure, ``unserved``
            when no process serves it.
        since: when that began; None when it is not known.
        reason: for people; None while all is well.
        process: ``<host>:<pid>`` of who serves it, or did last.
        waiting: messages that came and are not done with.
    """

    name: str
    type: str
    workspace_id: str
    state: ChannelState
    since: Moment | None = None
    reason: str | None = None
    process: str | None = None
    waiting: int = 0


class Channels(Answer):
    """The chat channels of the workspaces that the token is good for."""

    channels: tuple[Channel, ...]


class Stats(Answer):
    """Counters of all lanes.

    Attributes:
        counters: by name, since the deployment began.
        waiting_lanes: how many wait for a worker.
        oldest_wait_ms: for how long the first of them has.
    """

    counters: dict[str, int] = Field(default_factory=dict)
    waiting_lanes: int = 0
    oldest_wait_ms: int = 0


class Act(Answer):
    """Something that was done, or refused, and is on record.

    Attributes:
        token: name of the token that was used.
        action: name of the route.
        target: its path.
        status: of the answer.
        client_id: as which client, as far as the request claimed one.
    """

    at: Moment
    token: str
    action: str
    target: str
    status: int
    outcome: ActOutcome
    code: str | None = None
    workspace_id: str | None = None
    client_id: str | None = None
    request_id: str | None = None


class ActPage(CursorPage):
    """Some acts, newest first."""

    entries: tuple[Act, ...]
