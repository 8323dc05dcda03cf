"""Channels as the web knows them: the doors to which messages are posted, and how they stand."""

from collections.abc import Iterator, Sequence
from functools import partial

from pydantic import SecretStr

from channels.adapters.slack.door import SlackDoor
from channels.adapters.webhook.door import WebhookDoor
from channels.config import ChannelConfig
from channels.envelope import Envelope
from channels.errors import ChannelConfigInvalid
from core.logs import get_logger
from core.settings import Settings, changed_environment
from core.workspaces import Workspaces
from events.chat.board import ChannelBoard, KnownChannel, open_channel_board
from events.chat.store import ChannelStore, open_channel_store
from memlane.channels.configuration import load_channels
from memlane.channels.stores import put_message
from web.routes.channels import ChannelDoors

WEBHOOK = "webhook"
SLACK = "slack"

_log = get_logger(__name__)


def usable_channels(settings: Settings, workspaces: Workspaces) -> Sequence[ChannelConfig]:
    """What channels are configured; none if the file can't be used, which is logged.

    Who reads and writes memory is served all the same.
    """
    path = settings.channels_path
    if not path.exists():
        return ()
    try:
        channels = load_channels(path, workspaces=workspaces, environment=changed_environment({}))
    except ChannelConfigInvalid as error:
        _log.error("channels_unusable", reason=str(error))
        return ()
    return [read.config for read in channels]


def open_board(settings: Settings, workspaces: Workspaces, channels: Sequence[ChannelConfig]) -> ChannelBoard:
    """What looks at the channels that work in a workspace."""
    found = ((config, workspaces.by_path(config.cwd)) for config in channels)
    known = [KnownChannel(config.name, config.type, at.id) for config, at in found if at is not None]
    return open_channel_board(settings.state, known)


def open_doors(settings: Settings, workspaces: Workspaces, channels: Sequence[ChannelConfig]) -> ChannelDoors:
    """The doors of those channels that have one."""
    doors = list(_doors(settings, workspaces, channels))
    return ChannelDoors(
        webhook={door.name: door for door in doors if isinstance(door, WebhookDoor)},
        slack={door.name: door for door in doors if isinstance(door, SlackDoor)},
    )


def _doors(
    settings: Settings, workspaces: Workspaces, configs: Sequence[ChannelConfig]
) -> Iterator[WebhookDoor | SlackDoor]:
    for config in configs:
        secret = _secret_of(config)
        workspace = workspaces.by_path(config.cwd)
        if secret is not None and workspace is None:
            _log.error("channel_without_workspace", channel=config.name)
        elif secret is not None and workspace is not None:
            put = partial(_put, open_channel_store(settings.state, workspace.id, config.name))
            door = WebhookDoor if config.type == WEBHOOK else SlackDoor
            yield door(config.name, secret, put)


def _secret_of(config: ChannelConfig) -> SecretStr | None:
    """By what messages for a channel are signed; None where none are posted."""
    if config.type == WEBHOOK:
        return config.token
    return config.client_secret if config.type == SLACK else None


def _put(store: ChannelStore, envelope: Envelope, keys: Sequence[str]) -> bool:
    return put_message(store, envelope, keys=keys)
