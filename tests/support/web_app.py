"""The web application inside of a test's own process, without a server around it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from flask import Flask

from core.settings import Settings
from core.workspaces import Workspaces
from events.hub import open_hub
from events.sessions import open_sessions
from jobs.client import open_jobs
from memory.library import Library
from web.app import WebParts, create_app
from web.keyring import Keyring, single_token

NO_MEMORY = Library(Path("/srv/no-memory"), local=False)


@contextmanager
def application(redis_url: str, workspaces: Workspaces, *, keyring: Keyring | None = None) -> Iterator[Flask]:
    """Make an application without memory for the body; unless told otherwise its one token is ``T``."""
    settings = Settings(redis_url=redis_url)
    hub = open_hub(redis_url, [workspace.id for workspace in workspaces])
    sessions = open_sessions(settings.state)
    parts = WebParts(workspaces, open_jobs(settings), hub, sessions, NO_MEMORY)
    try:
        yield create_app(settings, parts, keyring=keyring or single_token("T"), home=Path.home())
    finally:
        hub.close()
