"""Our side of the measurements: the real worker on a bridge without agents, and a client without caps."""

# ruff: noqa: E402 - dramatiq reads its environment when it is imported

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from core.settings import Settings, export_engine_settings, load_settings

export_engine_settings()

from dramatiq.brokers.redis import _RedisConsumer

import jobs.intake
import jobs.worker
from bench.diary import Diary
from bench.noop_bridge import NoopBridge
from core.ids import WorkspaceId, workspace_id
from core.logs import configure_logs
from core.workspaces import Workspaces
from jobs.broker import LaneBroker
from jobs.client import open_jobs
from jobs.slot import open_slot
from jobs.tasks import Submission
from jobs.worker import WorkerSite, run_worker

if TYPE_CHECKING:
    from acp_bridge.bridge import Bridge

STORE_ID = "bench"
UNCAPPED = 1_000_000
POLL_MS = 100

Sender = Callable[[str, int], None]


def open_sender(settings: Settings, folders: Sequence[Path]) -> Sender:
    """Make what submits task ``seq`` to the workspace of a name, through the client that the web uses.

    The cap of a lane is lifted in this process: a measurement loads lanes deeper than clients may.
    """
    jobs.intake.MAX_PENDING = UNCAPPED  # type: ignore[attr-defined]  # its own name for the constant
    client = open_jobs(settings)
    ids: dict[str, WorkspaceId] = {folder.name: workspace_id(str(folder)) for folder in folders}

    def send(workspace: str, seq: int) -> None:
        client.submit(ids[workspace], Submission("remember", {"content": str(seq)}, context_mode="workspace"))

    return send


def main(arguments: Sequence[str]) -> int:
    """Run one worker process until SIGTERM; configured by the environment as `memlane worker` is."""
    parser = argparse.ArgumentParser()
    parser.add_argument("diary", type=Path)
    parser.add_argument("--hold-s", type=float, default=0.0)
    parser.add_argument("--poll", action="store_true", help="look every 100 ms and don't listen for rings")
    options = parser.parse_args(arguments)
    settings = load_settings()
    configure_logs(settings.log_level, process="worker")
    if options.poll:
        _poll_instead_of_waking()
    bridge = NoopBridge(Diary(options.diary), hold_s=options.hold_s)
    site = WorkerSite(Workspaces(settings.workspaces), STORE_ID, open_slot(settings), model="none")
    return run_worker(settings, site, cast("Bridge", bridge))  # a worker calls nothing else of it


def _poll_instead_of_waking() -> None:
    LaneBroker.consumer_class = _RedisConsumer  # type: ignore[method-assign, assignment]  # dramatiq's own, as before
    jobs.worker.IDLE_MS = POLL_MS


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
