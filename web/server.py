"""The application as a process: gunicorn with one gevent worker, configured in code only."""

import resource
import socket
from collections.abc import Callable
from typing import Any, NoReturn

from flask import Flask
from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]  # ships no types
from gunicorn.glogging import Logger  # type: ignore[import-untyped]  # ships no types
from gunicorn.http import wsgi  # type: ignore[import-untyped]  # ships no types

from web.worker import WebWorker

GRACE_S = 5
MAX_CONNECTIONS = 4096  # a stream holds one
MAX_HEADER_BYTES = 8190


def serve(app_factory: Callable[[], Flask], listener: socket.socket) -> NoReturn:
    """Serve until SIGTERM or SIGINT, then end streams, finish requests and exit within 5 s.

    The calling process becomes gunicorn's master; modules must be patched by gevent already.

    Args:
        app_factory: called in the worker, after the fork, so that connections and threads are its own.
        listener: bound and listening; its descriptor is taken over.

    Raises:
        SystemExit: always, in master and worker, with the exit code of each.
    """
    wsgi.SERVER = "memlane"  # the banner has no setting, and names software and its weak spots
    _raise_open_file_limit()
    _Server(app_factory, listener.detach()).run()
    raise SystemExit(0)


class _Server(BaseApplication):  # type: ignore[misc]  # untyped base
    def __init__(self, app_factory: Callable[[], Flask], listener_fd: int) -> None:
        self._app_factory = app_factory
        self._listener_fd = listener_fd
        super().__init__()

    def load_config(self) -> None:
        for name, value in _options(self._listener_fd).items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        return self._app_factory()


class _Logger(Logger):  # type: ignore[misc]  # untyped base
    def setup(self, cfg: Any) -> None:
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True  # to the root logger, which core.logs has set up


def _options(listener_fd: int) -> dict[str, Any]:
    return {
        "bind": [f"fd://{listener_fd}"],
        "workers": 1,
        "worker_class": WebWorker,
        "worker_connections": MAX_CONNECTIONS,
        "graceful_timeout": GRACE_S,
        "keepalive": 65,  # longer than clients and proxies keep a pooled connection
        "control_socket_disable": True,
        "logger_class": _Logger,
        "loglevel": "warning",
        "limit_request_line": MAX_HEADER_BYTES,
        "limit_request_field_size": MAX_HEADER_BYTES,
        # nothing a peer sends decides scheme, path or address
        "forwarder_headers": "",
        "secure_scheme_headers": {},
        "forwarded_allow_ips": "",
    }


def _raise_open_file_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
