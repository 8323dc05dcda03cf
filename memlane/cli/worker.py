"""Composition of the worker process."""

import os

from core.settings import changed_environment, export_engine_settings, load_settings

export_engine_settings()  # before the import of jobs, which imports dramatiq

from acp_bridge.bridge import open_bridge  # noqa: E402
from core.logs import configure_logs  # noqa: E402
from core.workspaces import Workspaces  # noqa: E402
from jobs.worker import run_worker  # noqa: E402
from memlane.folders import make_private  # noqa: E402
from memlane.parts import own_command  # noqa: E402
from memlane.site import run_dir_of  # noqa: E402
from memory.store import open_store  # noqa: E402


def run() -> int:
    """Run lanes until SIGTERM.

    Returns:
        The exit code.

    Raises:
        ConfigError: a setting does not allow the start.
        StoreUnusable: the memory base is missing or can't be written.
    """
    settings = load_settings()
    configure_logs(settings.log_level, process="worker")
    workspaces = Workspaces(settings.workspaces)
    settings.state  # noqa: B018 - an unset URL is told before anything starts
    os.chdir(make_private(settings.home))
    make_private(run_dir_of(settings))
    store_id = open_store(settings.memory_base).store_id
    own_agent = own_command("agent")
    bridge = open_bridge(
        command=settings.agent_command or own_agent,
        resolver_command=own_agent,
        environment=changed_environment({"MEMLANE_MEMORY_DIR": str(settings.memory_base)}),
        idle_s=settings.agent_idle_s,
    )
    return run_worker(settings, workspaces, bridge, store_id=store_id)
