"""All chat channels of one installation, served by one process."""

import asyncio
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote

from acp_bridge.chat.bridge import ChatBridge
from channels.adapters.registry import open_channel
from channels.base import ChannelBase
from channels.config import ChannelConfig
from channels.config_reading import ReadChannel
from channels.memory_commands import MemoryCommands
from channels.pairing import PairingStore
from channels.parts import ChannelParts
from channels.permissions import PermissionRelay
from core.chat import PermissionRequest
from core.logs import get_logger
from core.settings import Settings
from core.workspaces import Workspace, Workspaces
from events.chat.announcing import open_announcer
from events.chat.store import ChannelStore, open_channel_store
from jobs.client import JobsClient
from memlane.channels.configuration import workspace_of
from memlane.channels.events import TurnEvents
from memlane.channels.lane import WorkspaceLane, WorkspaceMemory
from memlane.channels.serving import USUAL, Opened, Pace, ServedChannel
from memlane.channels.stores import Patience, StoredInbox, StoredLedger, StoredOutbox, StoredRoutes
from memlane.channels.threads import make_room
from memory.library import Library

PAIRING_FOLDER = "pairing"
FILES_FOLDER = "channel-files"

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Installation:
    """What all channels share."""

    settings: Settings
    workspaces: Workspaces
    bridge: ChatBridge
    jobs: JobsClient
    library: Library


class ChannelHost:
    """Serves channels until it is told to stop. For one event loop."""

    def __init__(self, installation: Installation, channels: Sequence[ReadChannel]) -> None:
        """Make everything; nothing connects yet.

        Raises:
            ChannelConfigInvalid: a channel works in a folder that no workspace is.
        """
        self._installation = installation
        self._relays: dict[str, PermissionRelay] = {}
        self._served = [self._channel(read) for read in channels]
        installation.bridge.decide_permissions_by(self._decide)

    async def run(self) -> None:
        """Serve all channels until SIGTERM or SIGINT; one that fails does not stop the others."""
        make_room(waiting=len(self._served))  # each waits for messages
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        tasks = {asyncio.create_task(served.run()) for served in self._served}
        await stop.wait()
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await self._installation.bridge.close()

    def _channel(self, read: ReadChannel) -> ServedChannel:
        config = read.config
        for warning in read.warnings:
            _log.warning("channel_configuration", path=warning.path, reason=warning.message)
        workspace = workspace_of(config, self._installation.workspaces)
        store = open_channel_store(self._installation.settings.state, workspace.id, config.name)
        pace = Pace(drain_s=min(self._installation.settings.drain_s, USUAL.drain_s))
        return ServedChannel(config.name, store, lambda: self._open(config, workspace, store), pace=pace)

    def _open(self, config: ChannelConfig, workspace: Workspace, store: ChannelStore) -> Opened:
        here, patience = self._installation, Patience()
        parts = ChannelParts(
            pairing=pairing_of(here.settings, config.name, cwd=config.cwd),
            ledger=StoredLedger(store, patience),
            outbox=StoredOutbox(store, patience),
            routes=StoredRoutes(store, patience),
            memory=WorkspaceMemory(here.library, workspace.path),
            files=here.settings.home / FILES_FOLDER / workspace.id / quote(config.name, safe=""),
        )
        inbox = StoredInbox(store, patience)
        channel = open_channel(config, bridge=here.bridge, parts=parts, inbox=inbox)
        MemoryCommands(channel, WorkspaceLane(here.jobs, workspace, here.library), parts.timers)
        if config.permissions == "ask":
            self._relays[config.name] = PermissionRelay(channel, parts.timers)
        events = TurnEvents(open_announcer(here.settings.state), workspace.id)
        return Opened(channel, inbox, events)

    async def _decide(self, request: PermissionRequest) -> str | None:
        channel = self._serving(request.session_id)
        relay = self._relays.get(channel.name) if channel is not None else None
        return await relay.decide(request) if relay is not None else None

    def _serving(self, session_id: str) -> ChannelBase | None:
        channels = (served.current for served in self._served)
        return next((one for one in channels if one is not None and one.active_message(session_id)), None)


def pairing_of(settings: Settings, channel: str, *, cwd: str) -> PairingStore:
    """Who asks to be let into a channel, and who was.

    Args:
        cwd: where the channel works.
    """
    return PairingStore(settings.home / PAIRING_FOLDER, workspace=cwd, channel=channel)
