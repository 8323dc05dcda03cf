"""A worker process: dramatiq's threads, our keeper, sweeper and presence, one shutdown."""

import os
import signal
import socket
import threading
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import dramatiq
from dramatiq.common import dq_name, iter_queue
from dramatiq.errors import BrokerConnectionError

from acp_bridge.bridge import Bridge
from core.ids import WorkspaceId
from core.keys import CONTROL_CHANNEL, DOORBELL_CHANNEL
from core.logs import get_logger
from core.settings import Settings
from core.workspaces import Workspaces
from events.connect import connect, storage_errors
from events.errors import StorageUnavailable
from events.listener import Listener
from jobs.actors import LaneParts, LaneRules, LaneRunner, declare_actor
from jobs.broker import QUEUE, Doorbell, LaneBroker, open_broker
from jobs.broker_probe import BrokerProbe
from jobs.client import JobsClient
from jobs.deployment import Deployment
from jobs.dreams import Dreamer, rules_of
from jobs.keeper import Keeper
from jobs.lanes import Lanes
from jobs.limits import limits_of
from jobs.periodic import Periodic
from jobs.presence import Presence
from jobs.progress import ProgressTeller
from jobs.registry import WorkerRegistry
from jobs.slot import Slot
from jobs.sweeper import Sweeper, SweepParts
from jobs.upkeep import Upkeep

IDLE_MS = 1_000  # how often an idle thread of dramatiq's looks around; work wakes it at once
KEEPER_TIMEOUT_S = 1.0
HEALTH_S = 1.0
HAND_BACK_S = 25  # a resolver's own limit and a little more
STOP_MS = 5_000
DREAM_LOOK_S = 60.0

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerSite:
    """Where a worker runs.

    Attributes:
        store_id: memory store of this host.
        slot: this process's proof of life, whose descriptor the bridge's children have.
        model: which model its agents use, as clients are told.
    """

    workspaces: Workspaces
    store_id: str
    slot: Slot
    model: str


def run_worker(settings: Settings, site: WorkerSite, bridge: Bridge) -> int:
    """Serve lanes until SIGTERM or SIGINT; takes bridge and slot over and closes them.

    Running tasks get ``drain_s`` to end, then they are handed back to the head of their lanes.

    Returns:
        Exit code: 0 after a signal, 1 when a vital thread died and the process should be started anew.
    """
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    with ExitStack() as stack:
        worker = _Process(settings, site, bridge, stack=stack)
        worker.start()
        _log.info("worker_started", worker=site.slot.name, threads=settings.threads)
        while not stopping.wait(HEALTH_S):
            if not worker.is_healthy():
                _log.error("worker_broken", worker=site.slot.name)
                return 1
        worker.stop(drain_s=settings.drain_s)
    return 0


class _Process:
    def __init__(self, settings: Settings, site: WorkerSite, bridge: Bridge, *, stack: ExitStack) -> None:
        self._site = site
        self._bridge = bridge
        stack.callback(site.slot.close)
        stack.callback(bridge.close)
        limits = limits_of(settings)
        client = connect(settings.state)
        broker = open_broker(settings)
        doorbell = Doorbell(broker, client)
        registry = WorkerRegistry(client)
        # a renewal must not wait behind other commands, nor for long
        renewals = Lanes(connect(settings.state, timeout_s=KEEPER_TIMEOUT_S), limits)
        self._keeper = Keeper(renewals, renew_ms=settings.renew_ms)
        stack.callback(self._keeper.close)
        self._presence = Presence(
            registry, site.slot.name, facts=_facts(settings, model=site.model), ask=self._ask
        )
        stack.callback(self._presence.close)
        self._progress = ProgressTeller(renewals)
        stack.callback(self._progress.close)
        sweep = SweepParts(Upkeep(client, limits), doorbell, BrokerProbe(broker), registry, site.slot)
        self._chores = [Periodic("sweeper", Sweeper(sweep).sweep, period_s=settings.sweep_ms / 1000)]
        rules = rules_of(settings)
        if rules is not None:
            jobs = JobsClient(client, doorbell, limits)
            dreamer = Dreamer(jobs, site.workspaces, rules=rules)
            self._chores.append(Periodic("dreamer", dreamer.look, period_s=DREAM_LOOK_S))
        for chore in self._chores:
            stack.callback(chore.close)
        parts = LaneParts(
            lanes=Lanes(client, limits),
            keeper=self._keeper,
            doorbell=doorbell,
            presence=self._presence,
            progress=self._progress,
            deployment=Deployment(client, configured=settings.deployment),
            bridge=bridge,
            workspaces=site.workspaces,
        )
        self._runner = LaneRunner(parts, _rules(settings, site))
        self._engine = _engine(broker, self._runner, threads=settings.threads)
        stack.callback(self._listener(settings, broker).close)

    def start(self) -> None:
        self._engine.start()

    def is_healthy(self) -> bool:
        threads = (self._keeper, self._presence, self._progress)
        ours = [*(one.is_alive() for one in threads), *(one.is_alive() for one in self._chores)]
        return all(ours) and all(consumer.is_alive() for consumer in self._engine.consumers.values())

    def stop(self, *, drain_s: float) -> None:
        """Stop taking doorbells, let runs end, hand the others back."""
        self._runner.drain()
        _give_doorbells_back(self._engine)
        if not self._runner.wait_idle(drain_s):
            self._hand_back()
        with suppress(StorageUnavailable, BrokerConnectionError), storage_errors():
            self._engine.stop(timeout=STOP_MS)

    def _hand_back(self) -> None:
        for _ in range(HAND_BACK_S):
            self._runner.stop_all()  # again: a run may have been on its way to its child
            if self._runner.wait_idle(1.0):
                return

    def _ask(self, workspace_id: WorkspaceId) -> bool:
        workspace = self._site.workspaces.by_id(workspace_id)
        return workspace is not None and self._bridge.available(workspace.path)

    def _listener(self, settings: Settings, broker: LaneBroker) -> Listener:
        def cancel(message: str) -> None:
            workspace, _, task = message.partition(" ")
            self._runner.cancel(WorkspaceId(workspace), task)

        channels = {DOORBELL_CHANNEL: lambda _workspace: broker.wake(), CONTROL_CHANNEL: cancel}
        return Listener(settings.state, channels, on_gap=broker.wake, name="worker-listener")


def _rules(settings: Settings, site: WorkerSite) -> LaneRules:
    return LaneRules(
        owner=site.slot.name,
        store_id=site.store_id,
        batch=settings.lane_batch,
        child_ms=settings.lease_ms - settings.margin_ms,
    )


def _facts(settings: Settings, *, model: str) -> dict[str, str]:
    return {
        "host": socket.gethostname(),
        "pid": str(os.getpid()),
        "threads": str(settings.threads),
        "model": model,
        **({"deployment": settings.deployment} if settings.deployment else {}),
    }


def _engine(broker: LaneBroker, runner: LaneRunner, *, threads: int) -> dramatiq.Worker:
    declare_actor(broker, runner)
    engine = dramatiq.Worker(broker, queues={QUEUE}, worker_timeout=IDLE_MS, worker_threads=threads)
    engine.queue_prefetch = threads  # no doorbell waits in a busy process while another is idle
    return engine


def _give_doorbells_back(engine: dramatiq.Worker) -> None:
    # the consumer of the delay queue goes on: its polls are this process's sign of life
    for name, consumer in engine.consumers.items():
        if name != dq_name(QUEUE):
            consumer.pause()
    items = iter_queue(engine.work_queue)
    messages = [item.message for item in items]
    with suppress(StorageUnavailable, BrokerConnectionError), storage_errors():
        engine.consumers[QUEUE].requeue_messages(messages)
