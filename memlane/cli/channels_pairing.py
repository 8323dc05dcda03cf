"""The work of ``memlane channel pairing``."""

import json
import sys
from pathlib import Path

from channels.pairing import PairingStore
from core.clock import rfc3339
from core.errors import ConfigError
from core.settings import changed_environment, load_settings
from core.workspaces import Workspaces
from memlane.channels.configuration import load_channels
from memlane.channels.host import pairing_of
from memlane.cli.exits import Exit
from memlane.cli.task_output import printable


def show(name: str, path: Path | None, *, as_json: bool) -> Exit:
    """Print who waits and who was let in.

    Raises:
        ConfigError: there is no such channel, or the configuration can't be used.
    """
    store = _store(name, path)
    waiting = [
        {
            "code": one.code,
            "senderId": one.sender_id,
            "senderName": one.sender_name,
            "askedAt": rfc3339(one.asked_ms),
        }
        for one in store.pending()
    ]
    if as_json:
        sys.stdout.write(json.dumps({"pending": waiting, "approved": list(store.approved())}) + "\n")
        return Exit.OK
    for one in waiting:
        told = f"{one['code']}  {one['senderName']} ({one['senderId']})  asked {one['askedAt']}"
        sys.stdout.write(printable(told) + "\n")
    for sender in store.approved():
        sys.stdout.write(printable(f"approved  {sender}") + "\n")
    if not waiting and not store.approved():
        sys.stdout.write("nobody waits, nobody was let in\n")
    return Exit.OK


def approve(name: str, code: str, path: Path | None) -> Exit:
    """Let somebody in.

    Raises:
        ConfigError: there is no such channel or code; nothing was changed.
    """
    found = _store(name, path).approve(code)
    if found is None:
        raise ConfigError("no live request has this code; a code is good for an hour")
    sys.stdout.write(printable(f"{found.sender_name} ({found.sender_id}) may talk to {name} now") + "\n")
    return Exit.OK


def _store(name: str, path: Path | None) -> PairingStore:
    settings = load_settings(channels_file=path)
    workspaces = Workspaces(settings.workspaces or (str(Path.cwd()),), must_exist=False)
    channels = load_channels(
        settings.channels_path, workspaces=workspaces, environment=changed_environment({})
    )
    config = next((read.config for read in channels if read.config.name == name), None)
    if config is None:
        raise ConfigError(f"there is no channel {name!r} in {settings.channels_path}")
    return pairing_of(settings, config)
