"""A worker process: dramatiq's threads, our keeper, sweeper and presence, one shutdown."""

import os
import signal
import socket
import threading
from contextlib import ExitStack, suppress

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.common import dq_name, iter_queue
from dramatiq.errors import BrokerConnectionError

from acp_bridge.bridge import Bridge
from core.ids import WorkspaceId, new_uuid
from core.logs import get_logger
from core.settings import Settings
from core.workspaces import Workspaces
from events.connect import connect, storage_errors
from events.errors import StorageUnavailable
from jobs.actors import LaneParts, LaneRunner, declare_actor
from jobs.broker import QUEUE, Doorbell, open_broker
from jobs.client import limits_of
from jobs.keeper import Keeper
from jobs.lanes import Lanes
from jobs.presence import Presence
from jobs.registry import WorkerRegistry
from jobs.sweeper import Sweeper

POLL_MS = 100
KEEPER_TIMEOUT_S = 1.0
HEALTH_S = 1.0
HAND_BACK_S = 25.0  # a resolver's own limit and a little more
STOP_MS = 5_000

_log = get_logger(__name__)


def run_worker(settings: Settings, workspaces: Workspaces, bridge: Bridge, *, store_id: str) -> int:
    """Serve lanes until SIGTERM or SIGINT; takes the bridge over and closes it.

    Running tasks get ``drain_s`` to end, then they are handed back to the head of their lanes.

    Returns:
        Exit code: 0 after a signal, 1 when a vital thread died and the process should be started anew.
    """
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    with ExitStack() as stack:
        worker = _Process(settings, workspaces, bridge, store_id=store_id, stack=stack)
        worker.start()
        _log.info("worker_started", worker=worker.id, threads=settings.threads)
        while not stopping.wait(HEALTH_S):
            if not worker.is_healthy():
                _log.error("worker_broken", worker=worker.id)
                return 1
        worker.stop(drain_s=settings.drain_s)
    return 0


class _Process:
    def __init__(
        self, settings: Settings, workspaces: Workspaces, bridge: Bridge, *, store_id: str, stack: ExitStack
    ) -> None:
        self.id = f"{socket.gethostname()}:{os.getpid()}:{new_uuid()[:8]}"
        self._bridge = bridge
        self._workspaces = workspaces
        stack.callback(bridge.close)
        limits = limits_of(settings)
        lanes = Lanes(connect(settings.state), limits)
        broker = open_broker(settings)
        doorbell = Doorbell(broker)
        # a renewal must not wait behind other commands, nor for long
        renewals = Lanes(connect(settings.state, timeout_s=KEEPER_TIMEOUT_S), limits)
        self._keeper = Keeper(renewals, renew_ms=settings.renew_ms)
        stack.callback(self._keeper.close)
        presence = self._presence(settings)
        stack.callback(presence.close)
        self._sweeper = Sweeper(lanes, doorbell, period_ms=settings.sweep_ms)
        stack.callback(self._sweeper.close)
        parts = LaneParts(lanes, self._keeper, doorbell, presence, bridge, workspaces)
        self._runner = LaneRunner(
            parts,
            worker_id=self.id,
            deployment=settings.deployment,
            store_id=store_id,
            batch=settings.lane_batch,
        )
        self._engine = _engine(broker, self._runner, threads=settings.threads)

    def start(self) -> None:
        self._engine.start()

    def is_healthy(self) -> bool:
        return self._keeper.is_alive() and self._sweeper.is_alive()

    def stop(self, *, drain_s: float) -> None:
        """Stop taking doorbells, let runs end, hand the others back."""
        self._runner.drain()
        _give_doorbells_back(self._engine)
        if not self._runner.wait_idle(drain_s):
            for workspace in self._workspaces:
                self._bridge.kill(workspace.path)
            self._runner.wait_idle(HAND_BACK_S)
        with suppress(StorageUnavailable, BrokerConnectionError), storage_errors():
            self._engine.stop(timeout=STOP_MS)

    def _presence(self, settings: Settings) -> Presence:
        def ask(workspace_id: WorkspaceId) -> bool:
            workspace = self._workspaces.by_id(workspace_id)
            return workspace is not None and self._bridge.available(workspace.path)

        facts = {
            "host": socket.gethostname(),
            "pid": str(os.getpid()),
            "threads": str(settings.threads),
            "deployment": settings.deployment,
        }
        return Presence(WorkerRegistry(connect(settings.state)), self.id, facts=facts, ask=ask)


def _engine(broker: RedisBroker, runner: LaneRunner, *, threads: int) -> dramatiq.Worker:
    declare_actor(broker, runner)
    engine = dramatiq.Worker(broker, queues={QUEUE}, worker_timeout=POLL_MS, worker_threads=threads)
    engine.queue_prefetch = threads  # no doorbell waits in a busy process while another is idle
    return engine


def _give_doorbells_back(engine: dramatiq.Worker) -> None:
    # the consumer of the delay queue goes on: its polls are this process's sign of life
    for name, consumer in engine.consumers.items():
        if name != dq_name(QUEUE):
            consumer.pause()
    items = iter_queue(engine.work_queue)  # type: ignore[no-untyped-call]  # dramatiq leaves it untyped
    messages = [item.message for item in items]
    with suppress(StorageUnavailable, BrokerConnectionError), storage_errors():
        engine.consumers[QUEUE].requeue_messages(messages)
