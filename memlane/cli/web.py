"""Composition of the web process."""

# ruff: noqa: E402 - what gevent patches must not be imported before it has

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from gevent import monkey

monkey.patch_all()  # before every import that might keep an unpatched socket, lock or thread

from core.logs import configure_logs, get_logger
from core.settings import Settings, load_settings
from core.workspaces import Workspaces
from events.hub import open_hub
from events.sessions import open_sessions
from jobs.client import open_jobs, require_fit_redis
from jobs.oversight import open_oversight
from memlane.channels.doors import open_board, open_doors, usable_channels
from memlane.folders import make_private
from memlane.listening import bind, is_exposed
from memlane.site import workspaces_of
from memlane.token_watch import open_keyring
from memory.library import Library
from web.app import WebParts, create_app
from web.server import serve

if TYPE_CHECKING:
    from flask import Flask

    from web.keyring import Keyring


_log = get_logger(__name__)


def run(*, listen_fd: int | None = None, host: str | None = None, port: int | None = None) -> NoReturn:
    """Serve HTTP until SIGTERM.

    Args:
        listen_fd: an inherited listening socket; ``host`` and ``port`` then only name it.

    Raises:
        ConfigError: a setting does not allow the start.
        SystemExit: with the exit code, at the end.
    """
    settings = load_settings(host=host, port=port)
    configure_logs(settings.log_level, process="web")
    workspaces = workspaces_of(settings)
    keyring = open_keyring(settings)
    settings.state  # noqa: B018 - an unset URL is told now, not at the first request
    os.chdir(make_private(settings.home))
    is_checked = require_fit_redis(settings)
    listener = bind(settings.host, settings.port) if listen_fd is None else socket.socket(fileno=listen_fd)
    if is_exposed(listener):
        _log.warning("web_exposed", host=settings.host, workspaces=len(workspaces), encrypted=False)
    serve(lambda: _compose(settings, workspaces, keyring, is_checked=is_checked), listener)


def _compose(settings: Settings, workspaces: Workspaces, keyring: "Keyring", *, is_checked: bool) -> "Flask":
    """Open what a serving process has of its own; called after the fork."""
    hub = open_hub(settings.state, [workspace.id for workspace in workspaces])
    jobs = open_jobs(settings, is_checked=is_checked)
    library = Library(settings.memory_base, local=settings.memory_local)
    sessions, oversight = open_sessions(settings.state), open_oversight(settings)
    channels = usable_channels(settings, workspaces)
    board = open_board(settings, workspaces, channels)
    doors = open_doors(settings, workspaces, channels)
    parts = WebParts(workspaces, jobs, hub, sessions, library, oversight, board, doors)
    return create_app(settings, parts, keyring=keyring, home=Path.home())
