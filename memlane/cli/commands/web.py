"""`memlane web`."""

from memlane.cli import options


def web(host: options.Host = None, port: options.Port = None) -> None:
    """Run one web process.

    Start as many as you like against one Redis. Configured by MEMLANE_REDIS_URL, MEMLANE_WORKSPACES,
    MEMLANE_TOKEN and others, see docs/operations.md.
    """
    options.check_port(port)
    from memlane.cli.web import run

    run(host=host, port=port)
