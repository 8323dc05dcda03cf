"""Composition of the worker process."""

# ruff: noqa: E402 - dramatiq reads its environment when it is imported

import os
from threading import Event

from core.policies import load_policies
from core.settings import (
    export_engine_settings,
    load_model_settings,
    load_settings,
)

export_engine_settings()  # before the import of jobs, which imports dramatiq

from acp_bridge.bridge import open_bridge
from acp_bridge.limits import Limits
from core.logs import configure_logs
from jobs.client import require_fit_redis
from jobs.slot import open_slot
from jobs.worker import WorkerSite, run_worker
from memlane.agent_environment import environment_of_agents
from memlane.folders import make_private
from memlane.model_choice import choose_model
from memlane.own_store import open_own_store
from memlane.parts import own_command
from memlane.site import workspaces_of

RETRY_S = 1.0


def run() -> int:
    """Run lanes until SIGTERM.

    Returns:
        The exit code.

    Raises:
        ConfigError: a setting does not allow the start, or the workspaces' memory is elsewhere.
        StoreUnusable, StoreBusy: the memory base is missing or can't be used.
        StorageUnavailable: Redis went away between two questions.
    """
    settings = load_settings()
    configure_logs(settings.log_level, process="worker")
    workspaces = workspaces_of(settings)
    settings.state  # noqa: B018 - an unset URL is told before anything starts
    load_policies(settings.policy_file)  # its children read it; one that can't be used is told now
    os.chdir(make_private(settings.home))
    while not require_fit_redis(settings):
        Event().wait(RETRY_S)
    slot = open_slot(settings)
    store_id = open_own_store(settings, workspaces).store_id
    own_agent = own_command("agent")
    bridge = open_bridge(
        command=settings.agent_command or own_agent,
        own_command=own_agent,
        environment=environment_of_agents(settings, store_id),
        idle_s=settings.agent_idle_s,
        limits=Limits(guard_ms=settings.lease_ms - settings.margin_ms, foreign_s=settings.agent_timeout_s),
        keep_fds=[] if slot.descriptor is None else [slot.descriptor],
    )
    return run_worker(
        settings,
        WorkerSite(workspaces, store_id, slot, model=choose_model(settings, load_model_settings()).label),
        bridge,
    )
