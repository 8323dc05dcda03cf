"""The web process of the tests: the real application on the real server, told what to be by arguments."""

# ruff: noqa: E402 - what gevent patches must not be imported before it has

from gevent import monkey

monkey.patch_all()  # before anything that makes sockets, threads or locks is imported

import socket
import sys
from pathlib import Path

from flask import Flask

from core.logs import configure_logs
from core.settings import Settings
from core.workspaces import Workspaces
from events.chat.board import open_channel_board
from events.hub import open_hub
from events.sessions import open_sessions
from jobs.client import open_jobs
from jobs.oversight import open_oversight
from memory.library import Library
from tests.support.keyring import single_token
from tests.support.web_server import TOKEN
from web.app import WebParts, create_app
from web.server import serve


def main(
    listener_fd: int, redis_url: str, memory_dir: Path, paths: list[str], *, heartbeat_s: float, ping_s: float
) -> None:
    """Serve ``paths`` until SIGTERM."""
    settings = Settings(
        redis_url=redis_url,
        workspaces=tuple(paths),
        hosts=("memlane.example",),
        memory_dir=memory_dir,
    )
    workspaces = Workspaces(paths)

    def make() -> Flask:
        hub = open_hub(settings.state, [workspace.id for workspace in workspaces])
        library = Library(settings.memory_base, local=settings.memory_local)
        parts = WebParts(
            workspaces,
            open_jobs(settings),
            hub,
            open_sessions(settings.state),
            library,
            open_oversight(settings),
            open_channel_board(settings.state, ()),
        )
        app = create_app(
            settings, parts, keyring=single_token(TOKEN), home=Path.home(), heartbeat_s=heartbeat_s
        )
        app.config["SOCK_SERVER_OPTIONS"]["ping_interval"] = ping_s
        return app

    configure_logs(process="web")
    serve(make, socket.socket(fileno=listener_fd))


if __name__ == "__main__":
    fd, redis_url, memory_dir, heartbeat, ping, *paths = sys.argv[1:]
    main(int(fd), redis_url, Path(memory_dir), paths, heartbeat_s=float(heartbeat), ping_s=float(ping))
