"""The doors of webhook channels, for the web that stores what comes in."""

from collections.abc import Mapping, Sequence
from functools import partial

from channels.adapters.webhook.door import WebhookDoor
from channels.config import ChannelConfig
from channels.envelope import Envelope
from channels.errors import ChannelConfigInvalid
from core.logs import get_logger
from core.settings import Settings, changed_environment
from core.workspaces import Workspaces
from events.chat.store import ChannelStore, open_channel_store
from memlane.channels.configuration import load_channels
from memlane.channels.stores import put_message

WEBHOOK = "webhook"

_log = get_logger(__name__)


def open_doors(settings: Settings, workspaces: Workspaces) -> Mapping[str, WebhookDoor]:
    """The doors of all configured webhook channels; none if the file can't be used, which is logged.

    Who reads and writes memory is served all the same.
    """
    path = settings.channels_path
    if not path.exists():
        return {}
    try:
        channels = load_channels(path, workspaces=workspaces, environment=changed_environment({}))
    except ChannelConfigInvalid as error:
        _log.error("channels_unusable", reason=str(error))
        return {}
    doors = (_door(settings, workspaces, read.config) for read in channels if read.config.type == WEBHOOK)
    return {door.name: door for door in doors if door is not None}


def _door(settings: Settings, workspaces: Workspaces, config: ChannelConfig) -> WebhookDoor | None:
    workspace = workspaces.by_path(config.cwd)
    if workspace is None:
        _log.error("channel_without_workspace", channel=config.name)
        return None
    store = open_channel_store(settings.state, workspace.id, config.name)
    return WebhookDoor(config.name, config.token, partial(_put, store))


def _put(store: ChannelStore, envelope: Envelope, keys: Sequence[str]) -> bool:
    return put_message(store, envelope, keys=keys)
