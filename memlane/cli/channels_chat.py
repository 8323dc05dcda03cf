"""Composition of ``memlane channel chat``: a chat at the terminal through the same base as all channels."""

# ruff: noqa: E402 - dramatiq reads its environment when it is imported

import asyncio
import getpass
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from core.settings import Settings, changed_environment, export_engine_settings, load_settings

export_engine_settings()  # before the import of jobs, which imports dramatiq

from acp_bridge.chat.bridge import ChatBridge, open_chat_bridge
from channels import replies
from channels.adapters.terminal.channel import TerminalChannel
from channels.config import ChannelConfig
from channels.errors import TurnCalledOff
from channels.memory_commands import MemoryCommands
from channels.parts import ChannelParts
from channels.permissions import PermissionRelay
from channels.under_way import UnderWay
from core.errors import ConfigError, MemlaneError
from core.logs import configure_logs
from core.workspaces import Workspace, Workspaces
from jobs.client import open_jobs
from memlane.agent_environment import environment_of_agents
from memlane.channels.configuration import load_channels
from memlane.channels.host import pairing_of
from memlane.channels.lane import NoLane, WorkspaceLane, WorkspaceMemory
from memlane.cli.exits import Exit
from memlane.cli.task_output import printable
from memlane.embedded import embedded_url
from memlane.own_store import open_own_store
from memlane.parts import own_command
from memlane.run_record import read_run_record
from memlane.site import workspaces_at_hand
from memory.library import Library
from memory.store import open_store

NAME = "terminal"
PROMPT = "> "
HOW_TO_LEAVE = "Ctrl-D ends the chat.\n"


def chat(name: str | None, path: Path | None) -> Exit:
    """Chat until the input ends.

    Args:
        name: of the channel whose configuration is used; None means one of its own.

    Raises:
        ConfigError: it can't be configured so.
        StoreUnusable, StoreBusy: the memory base is missing or can't be used.
        StorageUnavailable: the Redis that was named gives no answer.
    """
    settings = _at_hand(load_settings(channels_file=path))
    configure_logs("error", process="chat")
    workspaces = workspaces_at_hand(settings)
    config = _config(name, settings, workspaces)
    workspace = workspaces.by_path(config.cwd)
    if workspace is None:
        raise ConfigError(f"channel {config.name!r} works in {config.cwd}, which is no workspace")
    asyncio.run(_talk(settings, config, workspace, bridge=_bridge(settings, workspaces)))
    return Exit.OK


async def _talk(
    settings: Settings, config: ChannelConfig, workspace: Workspace, *, bridge: ChatBridge
) -> None:
    library = Library(settings.memory_base, local=settings.memory_local)
    parts = ChannelParts(
        pairing=pairing_of(settings, config.name, cwd=config.cwd),
        memory=WorkspaceMemory(library, workspace.path),
    )
    channel = TerminalChannel(config, bridge=bridge, parts=parts, write=_write)
    relay = PermissionRelay(channel, parts.timers)
    bridge.decide_permissions_by(relay.decide)
    is_served = settings.redis_url is not None
    lane = WorkspaceLane(open_jobs(settings), workspace, library) if is_served else NoLane()
    MemoryCommands(channel, lane, parts.timers)
    try:
        await _converse(channel)
    finally:
        await channel.close()
        await bridge.close()


async def _converse(channel: TerminalChannel) -> None:
    person = getpass.getuser()
    turns = UnderWay()
    _prompt(HOW_TO_LEAVE)
    try:
        async for line in _lines():
            if line.strip():
                turns.begin(_take(channel, line, person))
            else:
                _prompt()
        await turns.wind_up(limit_s=None)
    finally:  # also when it is interrupted: of what was asked nothing is told any more
        await turns.wind_up(limit_s=0)
        if sys.stdin.isatty():
            _write("\n")


def _prompt(before: str = "") -> None:
    """Ask for the next line, of a person."""
    if sys.stdin.isatty():
        _write(f"{before}{PROMPT}")


async def _take(channel: TerminalChannel, line: str, person: str) -> None:
    try:
        with suppress(TurnCalledOff):  # who cancelled it was told so
            await channel.take_line(line, person=person)
    except MemlaneError as error:
        _write(f"{replies.failure_text(error)}\n")
    _prompt()


async def _lines() -> AsyncIterator[str]:
    """Lines as they are typed, read on a thread that does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        for line in iter(sys.stdin.readline, ""):
            loop.call_soon_threadsafe(lines.put_nowait, line.rstrip("\n"))
        loop.call_soon_threadsafe(lines.put_nowait, None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        line = await lines.get()
        if line is None:
            return
        yield line


def _write(text: str) -> None:
    sys.stdout.write("\n".join(printable(line) for line in text.expandtabs().split("\n")))
    sys.stdout.flush()


def _config(name: str | None, settings: Settings, workspaces: Workspaces) -> ChannelConfig:
    own = ChannelConfig(name=NAME, type=NAME, cwd=workspaces.primary.path)
    if name is not None:
        channels = load_channels(
            settings.channels_path, workspaces=workspaces, environment=changed_environment({})
        )
        found = next((read.config for read in channels if read.config.name == name), None)
        if found is None:
            raise ConfigError(f"there is no channel {name!r} in {settings.channels_path}")
        own = found
    # whoever sits at the terminal is let in, and waits for one answer before the next
    person = (getpass.getuser(),)
    return replace(own, sender_policy="allowlist", allowed_users=person, dispatch_mode="followup")


def _bridge(settings: Settings, workspaces: Workspaces) -> ChatBridge:
    if settings.redis_url is not None:
        store_id = open_own_store(settings, workspaces).store_id
    else:
        store_id = open_store(settings.memory_base, expect=settings.store_id).store_id
    return open_chat_bridge(
        command=settings.agent_command or own_command("agent"),
        environment=environment_of_agents(settings, store_id),
        idle_s=settings.chat_idle_s,
    )


def _at_hand(settings: Settings) -> Settings:
    """Use the Redis of a `memlane up` that runs on this home, unless one is named."""
    if settings.redis_url is not None or read_run_record(settings.home) is None:
        return settings
    return settings.model_copy(update={"redis_url": embedded_url(settings.home)})
