"""Composition of the process that serves chat channels."""

# ruff: noqa: E402 - dramatiq reads its environment when it is imported

import asyncio
import os

from core.settings import Settings, changed_environment, export_engine_settings, load_settings

export_engine_settings()  # before the import of jobs, which imports dramatiq

from acp_bridge.chat.bridge import open_chat_bridge
from core.logs import configure_logs
from core.workspaces import Workspaces
from jobs.client import open_jobs, require_fit_redis
from memlane.agent_environment import environment_of_agents
from memlane.channels.configuration import load_channels
from memlane.channels.host import ChannelHost, Installation
from memlane.cli.exits import Exit
from memlane.folders import make_private
from memlane.own_store import open_own_store
from memlane.parts import own_command
from memlane.site import workspaces_of
from memory.library import Library


def run() -> int:
    """Serve all configured channels until SIGTERM.

    Returns:
        The exit code.

    Raises:
        ConfigError: a setting or a channel does not allow the start.
        StoreUnusable, StoreBusy: the memory base is missing or can't be used.
        StorageUnavailable: Redis gives no answer.
    """
    settings = load_settings()
    configure_logs(settings.log_level, process="channels")
    workspaces = workspaces_of(settings)
    settings.state  # noqa: B018 - an unset URL is told before anything starts
    channels = load_channels(
        settings.channels_path, workspaces=workspaces, environment=changed_environment({})
    )
    os.chdir(make_private(settings.home))
    is_checked = require_fit_redis(settings)
    installation = _installation(settings, workspaces, is_checked=is_checked)
    asyncio.run(ChannelHost(installation, channels).run())
    return Exit.OK


def _installation(settings: Settings, workspaces: Workspaces, *, is_checked: bool) -> Installation:
    store_id = open_own_store(settings, workspaces).store_id
    bridge = open_chat_bridge(
        command=settings.agent_command or own_command("agent"),
        environment=environment_of_agents(settings, store_id),
        idle_s=settings.chat_idle_s,
    )
    jobs = open_jobs(settings, is_checked=is_checked)
    library = Library(settings.memory_base, local=settings.memory_local)
    return Installation(settings, workspaces, bridge, jobs, library)
