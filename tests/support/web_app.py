"""The web application inside of a test's own process, without a server around it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask import Flask

from core.settings import Settings
from core.workspaces import Workspace, Workspaces
from events.chat.board import KnownChannel, open_channel_board
from events.hub import open_hub
from events.sessions import open_sessions
from jobs.client import open_jobs
from jobs.oversight import open_oversight
from memory.library import Library
from tests.support.keyring import single_token
from tests.support.web_server import AUTHORIZED, Answer, Requests
from web.app import WebParts, create_app
from web.keyring import Keyring
from web.routes.channels import ChannelDoors

PLACEHOLDERS = {"scope": "user", "path:path": "user/tea.md"}
NO_MEMORY = Library(Path("/srv/no-memory"), local=False)


class AppRequests(Requests):
    """Sends requests to an application, from any thread."""

    def __init__(self, app: Flask) -> None:
        self._app = app

    def request(
        self, method: str, path: str, *, headers: Mapping[str, str] = AUTHORIZED, body: bytes | None = None
    ) -> Answer:
        """Send one request; ``path`` is decoded on its way."""
        answer = self._app.test_client().open(path, method=method, headers=dict(headers), data=body)
        lower = {name.lower(): value for name, value in answer.headers.items()}
        return Answer(answer.status_code, lower, answer.data)


def path_of(rule: str, workspace: Workspace) -> str:
    """A path that a rule serves; what else it names need not be there."""
    names = PLACEHOLDERS | {"selector": workspace.id, "workspace": workspace.id}
    return re.sub("<([^>]+)>", lambda match: names.get(match[1], "x"), rule)


@contextmanager
def application(
    redis_url: str,
    workspaces: Workspaces,
    *,
    keyring: Keyring | None = None,
    library: Library = NO_MEMORY,
    doors: ChannelDoors | None = None,
    channels: Sequence[KnownChannel] = (),
    **settings_changed: Any,
) -> Iterator[Flask]:
    """Make an application for the body; unless told otherwise it has no memory and one token, ``T``."""
    settings = Settings(redis_url=redis_url, **settings_changed)
    hub = open_hub(redis_url, [workspace.id for workspace in workspaces])
    sessions = open_sessions(settings.state)
    jobs, oversight = open_jobs(settings), open_oversight(settings)
    board = open_channel_board(settings.state, channels)
    parts = WebParts(workspaces, jobs, hub, sessions, library, oversight, board, doors or ChannelDoors())
    try:
        yield create_app(settings, parts, keyring=keyring or single_token("T"), home=Path.home())
    finally:
        hub.close()
