"""The web process of the tests: the real application on the real server, told what to be by arguments."""

from gevent import monkey

monkey.patch_all()  # before anything that makes sockets, threads or locks is imported

import socket  # noqa: E402
import sys  # noqa: E402

from flask import Flask  # noqa: E402

from core.logs import configure_logs  # noqa: E402
from core.settings import Settings  # noqa: E402
from core.workspaces import Workspaces  # noqa: E402
from events.hub import open_hub  # noqa: E402
from jobs.client import open_jobs  # noqa: E402
from tests.support.web_server import TOKEN  # noqa: E402
from web.app import RELAY, create_app  # noqa: E402
from web.server import serve  # noqa: E402


def main(listener_fd: int, redis_url: str, heartbeat_s: float, paths: list[str]) -> None:
    """Serve ``paths`` until SIGTERM."""
    settings = Settings(redis_url=redis_url, workspaces=tuple(paths), hosts=("memlane.example",))
    workspaces = Workspaces(paths)

    def make() -> Flask:
        hub = open_hub(settings.state, [workspace.id for workspace in workspaces])
        app = create_app(
            settings=settings, workspaces=workspaces, token=TOKEN, jobs=open_jobs(settings), hub=hub
        )
        relay = app.extensions[RELAY]
        relay.heartbeat_s = heartbeat_s
        return app

    configure_logs(process="web")
    serve(make, socket.socket(fileno=listener_fd))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4:])
