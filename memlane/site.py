"""One installation of the service on this machine: its folders, workspaces and token, checked before use."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.errors import ConfigError
from core.logs import get_logger
from core.settings import Settings
from core.workspaces import Workspaces
from memlane.credentials import check_token, ensure_token, read_token, token_file
from memlane.folders import FolderLock, FolderLocked, lock_folder, make_private
from memlane.run_record import read_run_record

_log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Site:
    """What the parts of one installation share.

    Attributes:
        token_file: where the token lies; None when it was given otherwise.
    """

    settings: Settings
    workspaces: Workspaces
    token: str
    token_file: Path | None


def open_site(settings: Settings, *, held_by: ExitStack) -> Site:
    """Check and prepare everything on disk; afterwards no other ``memlane up`` can use the same home.

    Without configured workspaces the current folder is the one. The default memory base is made if it is
    missing, a configured one has to exist.

    Args:
        held_by: keeps the lock on the home.

    Raises:
        ConfigError: something is missing, in use, or not writable.
    """
    workspaces = Workspaces(settings.workspaces or (str(Path.cwd()),))
    _check_memory_base(settings)
    home = settings.home
    with _explained("home", moved_by="MEMLANE_HOME or --home"):
        make_private(home)
        held_by.callback(_locked(home).close)
    if settings.token is not None:
        token = check_token(settings.token.get_secret_value(), source="MEMLANE_TOKEN")
        return Site(settings, workspaces, token, None)
    path = token_file(home)
    return Site(settings, workspaces, ensure_token(path), path)


def workspaces_of(settings: Settings) -> Workspaces:
    """The workspaces of a web or worker, which serves what it was told and never the current folder.

    Tasks of a folder that is missing fail; the others are served.

    Raises:
        ConfigError: there are none.
    """
    if not settings.workspaces:
        raise ConfigError(
            "no workspace is configured; set MEMLANE_WORKSPACES to folders, separated by colons"
        )
    workspaces = Workspaces(settings.workspaces, must_exist=False)
    for workspace in workspaces:
        if not os.path.isdir(workspace.path):  # noqa: PTH112 - a path that can't be looked at counts as missing
            _log.warning("workspace_missing", workspace=workspace.path)
    return workspaces


def workspaces_at_hand(settings: Settings, *, must_exist: bool = True) -> Workspaces:
    """Workspaces of a command: as configured, else of the ``memlane up`` on this home, else this folder.

    Raises:
        ConfigError: one is missing, and ``must_exist``.
    """
    running = read_run_record(settings.home)
    paths = settings.workspaces or (running.workspaces if running is not None else ())
    return Workspaces(paths or (str(Path.cwd()),), must_exist=must_exist)


def token_of(settings: Settings) -> str | None:
    """The owner's token of an installation that exists already; None if there is none.

    Raises:
        ConfigError: it can't be read or is not usable.
    """
    if settings.token is not None:
        return check_token(settings.token.get_secret_value(), source="MEMLANE_TOKEN")
    return read_token(token_file(settings.home))


def _check_memory_base(settings: Settings) -> None:
    base = settings.memory_base
    if settings.memory_is_default:
        with _explained("memory", moved_by="MEMLANE_MEMORY_DIR or --memory-dir"):
            make_private(base)
    if not base.exists():
        raise ConfigError(f"memory folder {base} does not exist; make it first")
    if not base.is_dir():
        raise ConfigError(f"memory folder {base} is not a folder")
    if not os.access(base, os.W_OK | os.X_OK):
        raise ConfigError(f"memory folder {base} is not writable")


def _locked(home: Path) -> FolderLock:
    try:
        return lock_folder(home)
    except FolderLocked:
        running = read_run_record(home)
        who = "another memlane" if running is None else f"memlane at {running.url} (process {running.pid})"
        message = f"{who} runs on {home} already; stop it, or choose another folder with --home"
        raise FolderLocked(message) from None


@contextmanager
def _explained(name: str, *, moved_by: str) -> Iterator[None]:
    """Add to a complaint about a folder what the folder is for."""
    try:
        yield
    except FolderLocked:
        raise
    except ConfigError as error:
        raise ConfigError(f"{error}; that is the {name} folder, {moved_by} moves it") from None
