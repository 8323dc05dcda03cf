"""A load on lanes that goes on over a failover: clients that repeat until accepted, runners that finish."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import redis

from bench.fleet import pause
from bench.proof import Run
from bench.sentinel_servers import Servers
from bench.stopwatch import now_ns
from core.errors import DependencyError
from core.ids import ClaimId, TaskId, WorkspaceId, new_task_id, new_uuid, workspace_id
from events.connect import storage_errors
from events.errors import StorageUnavailable
from events.log import EventLog
from jobs.errors import QueueFull
from jobs.intake import Intake
from jobs.lanes import Grant, Lanes
from jobs.limits import LaneLimits
from jobs.store import TaskStore
from jobs.tasks import End, Submission

LANES = 4
RUNNERS_EACH = 2  # of a lane, so that the lease has something to exclude
TASK_S = 0.03  # so long that no lane has as many tasks as it keeps records
IDLE_S = 0.01
RETRY_S = 0.05
WAIT_MS = 500
STORE_ID = "bench"
LIMITS = LaneLimits(lease_ms=2_000, task_ttl_ms=600_000, input_keep_ms=60_000, max_attempts=1_000)
DONE = End("completed", result={"summary": "", "filesTouched": [], "touchedScopes": []})

Answer = TypeVar("Answer")
EventKey = tuple[WorkspaceId, str, int]


@dataclass
class History:
    """What clients, runners and a subscriber saw; each list has one kind of writer.

    Attributes:
        accepted: tasks whose acceptance a client was told of, with the time.
        unconfirmed: acceptances that no replica confirmed in time; the client repeats them.
        answered: when a submit was answered, confirmed or not.
        runs: what ran, numbered in the order of submission.
        fences: claim ids by lane and fence; more than one means that a fence was given out twice.
        events: what a subscriber read: content by workspace, epoch and number.
        reused: numbers that a subscriber saw with two contents in one epoch.
        gaps: jumps of event numbers that a subscriber saw.
    """

    accepted: list[tuple[WorkspaceId, TaskId, int]] = field(default_factory=list)
    unconfirmed: list[TaskId] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)
    fences: dict[tuple[WorkspaceId, int], set[ClaimId]] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    ended: list[TaskId] = field(default_factory=list)
    fenced: list[TaskId] = field(default_factory=list)
    numbers: dict[TaskId, int] = field(default_factory=dict)
    events: dict[EventKey, str] = field(default_factory=dict)
    reused: set[EventKey] = field(default_factory=set)
    gaps: list[int] = field(default_factory=list)
    epochs: dict[WorkspaceId, list[str]] = field(default_factory=dict)


def lanes_of(prefix: str) -> list[WorkspaceId]:
    """Workspaces of one run."""
    return [workspace_id(f"{prefix}/{number}") for number in range(LANES)]


class Load:
    """Threads that work on lanes until they are told to stop; one of each kind for each lane."""

    def __init__(self, servers: Servers, workspaces: Sequence[WorkspaceId], *, with_wait: bool) -> None:
        self.history = History()
        self._servers = servers
        self._workspaces = workspaces
        self._with_wait = with_wait
        self._closed = threading.Event()
        self._stop = threading.Event()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run all threads for the body; clients end at ``stop_clients``, the others with the body."""
        runners = [self._run_on] * RUNNERS_EACH
        bodies: list[Callable[[WorkspaceId], None]] = [self._submit_on, self._read_on, *runners]
        threads = [
            threading.Thread(target=body, args=(workspace,), daemon=True)
            for workspace in self._workspaces
            for body in bodies
        ]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._closed.set()
            self._stop.set()
            for thread in threads:
                thread.join(10)

    def stop_clients(self) -> None:
        """Submit nothing more."""
        self._closed.set()

    def lost(self) -> int:
        """How many accepted tasks are not there any more."""
        client = self._servers.client()
        try:
            return self._states(client).count("lost")
        finally:
            client.close()

    def is_quiet(self) -> bool:
        """Whether all that is there has ended."""
        client = self._servers.client()
        try:
            return "open" not in self._states(client)
        except (StorageUnavailable, redis.RedisError):
            return False
        finally:
            client.close()

    def _states(self, client: "redis.Redis") -> list[str]:
        store = TaskStore(client)
        return [_state(store, workspace, task) for workspace, task, _ in self.history.accepted]

    def _submit_on(self, workspace: WorkspaceId) -> None:
        door = _Door(self._servers, with_wait=self._with_wait)
        seq = 0
        while not self._closed.is_set():
            task = new_task_id("remember")
            self.history.numbers[task] = seq
            seq += self._submit_until_accepted(door, workspace, task)
        door.close()

    def _submit_until_accepted(self, door: "_Door", workspace: WorkspaceId, task: TaskId) -> bool:
        while not self._closed.is_set():
            try:
                confirmed = door.submit(workspace, task)
                self.history.answered.append(now_ns())
                if confirmed:
                    self.history.accepted.append((workspace, task, now_ns()))
                    return True
                self.history.unconfirmed.append(task)
            except QueueFull:
                pause(IDLE_S)
            except (DependencyError, redis.RedisError):
                door.close()
                pause(RETRY_S)
        return False

    def _run_on(self, workspace: WorkspaceId) -> None:
        client = self._servers.client()
        lanes = Lanes(client, LIMITS)
        while not self._stop.is_set():
            claim = ClaimId(new_uuid())
            grant = _repeat(partial(lanes.claim, workspace, claim, store_id=STORE_ID), self._stop)
            if grant is None:
                pause(IDLE_S)
                continue
            self.history.fences.setdefault((workspace, grant.fence), set()).add(claim)
            start_ns = now_ns()
            pause(TASK_S)
            number = self.history.numbers[grant.task.id]
            self.history.runs.append(Run(workspace, number, start_ns, now_ns()))
            self._finish(lanes, workspace, grant)
        client.close()

    def _finish(self, lanes: Lanes, workspace: WorkspaceId, grant: Grant) -> None:
        finished = _repeat(lambda: lanes.finish_if_current(workspace, grant, DONE), self._stop)
        if finished is not None:
            place = self.history.fenced if finished.answer == "fenced" else self.history.ended
            place.append(grant.task.id)

    def _read_on(self, workspace: WorkspaceId) -> None:
        client = self._servers.client()
        log = EventLog(client)
        epoch, last = "", 0
        while not self._stop.is_set():
            with suppress(DependencyError, redis.RedisError):
                state = log.state(workspace)
                if state.epoch != epoch:
                    self.history.epochs.setdefault(workspace, []).append(state.epoch)
                    epoch = state.epoch
                last = self._read(log, workspace, epoch=epoch, after=last)
            pause(RETRY_S)
        client.close()

    def _read(self, log: EventLog, workspace: WorkspaceId, *, epoch: str, after: int) -> int:
        last = after
        # a few again: a number that is given out twice would come up behind the reader's back
        for event in log.read(workspace, after=max(0, after - 20)):
            number = event.id or 0
            key = (workspace, epoch, number)
            content = f"{event.type} {event.data_json}"
            if self.history.events.setdefault(key, content) != content:
                self.history.reused.add(key)
            if number > last + 1:
                self.history.gaps.append(number - last - 1)
            last = max(last, number)
        return last


class _Door:
    """Submits over one connection and asks for a replica's confirmation on the same.

    A fresh client after each error: one that is pinned to a connection never asks Sentinel again.
    """

    def __init__(self, servers: Servers, *, with_wait: bool) -> None:
        self._servers = servers
        self._with_wait = with_wait
        self._client: redis.Redis | None = None

    def submit(self, workspace: WorkspaceId, task: TaskId) -> bool:
        """Submit a task; whether it is confirmed. Repeats do no harm."""
        if self._client is None:
            self._client = self._servers.pinned_client()
        submission = Submission("remember", {"content": "a fact"}, context_mode="workspace")
        Intake(self._client, LIMITS).submit(workspace, task, submission)
        with storage_errors():
            return not self._with_wait or int(self._client.wait(1, WAIT_MS)) >= 1

    def close(self) -> None:
        """Forget the connection; the next submit makes one anew."""
        if self._client is not None:
            self._client.close()
            self._client = None


def _state(store: TaskStore, workspace: WorkspaceId, task_id: TaskId) -> str:
    task = store.find(workspace, "remember", task_id)
    if task is None:
        return "lost"
    return "ended" if task.is_terminal else "open"


def _repeat(call: Callable[[], Answer], stop: threading.Event) -> Answer | None:
    """Repeat a call that is safe to repeat until there is an answer; None when told to stop."""
    while not stop.is_set():
        try:
            return call()
        except (DependencyError, redis.RedisError):
            pause(RETRY_S)
    return None
