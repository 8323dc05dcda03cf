"""The work of ``memlane channel pairing``."""

import json
import sys
from pathlib import Path

from channels.pairing import PairingStore
from core.clock import rfc3339
from core.errors import ConfigError
from core.settings import load_settings
from memlane.channels.configuration import folder_of
from memlane.channels.host import pairing_of
from memlane.cli.exits import Exit
from memlane.cli.task_output import printable
from memlane.site import workspaces_at_hand


def show(name: str, path: Path | None, *, as_json: bool) -> Exit:
    """Print who waits and who was let in.

    Raises:
        ConfigError: there is no such channel, or the configuration can't be used.
    """
    store, cwd = _store(name, path)
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
        sys.stdout.write(printable(f"nobody waits, nobody was let in (workspace {cwd})") + "\n")
    return Exit.OK


def approve(name: str, code: str, path: Path | None) -> Exit:
    """Let somebody in.

    Raises:
        ConfigError: there is no such channel or code; nothing was changed.
    """
    store, _ = _store(name, path)
    found = store.approve(code)
    if found is None:
        raise ConfigError("no live request has this code; a code is good for an hour")
    sys.stdout.write(printable(f"{found.sender_name} ({found.sender_id}) may talk to {name} now") + "\n")
    return Exit.OK


def revoke(name: str, sender_id: str, path: Path | None) -> Exit:
    """Let somebody in no more.

    Raises:
        ConfigError: there is no such channel, or nobody of this id was let in; nothing was changed.
    """
    store, _ = _store(name, path)
    if not store.revoke(sender_id):
        raise ConfigError(f"nobody with the id {sender_id!r} was let in")
    sys.stdout.write(printable(f"{sender_id} may talk to {name} no more") + "\n")
    return Exit.OK


def _store(name: str, path: Path | None) -> tuple[PairingStore, str]:
    """Who asks and who was let in, and where the channel works; secrets need not be at hand for that."""
    settings = load_settings(channels_file=path)
    workspaces = workspaces_at_hand(settings, must_exist=False)
    cwd = folder_of(name, settings.channels_path, workspaces=workspaces)
    return pairing_of(settings, name, cwd=cwd), cwd
